import type { Oid } from '../format/oid.ts'
import type { Helper, Question } from '../runner/helper.ts'
import type { Inbox } from '../runner/inbox.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export type ObjectInfo = { readonly oid: Oid; readonly type: ObjectType; readonly sizeBytes: number }

/** `content` is undefined if the object is larger than the limit. */
export type ObjectContent = ObjectInfo & { readonly content: Buffer | undefined }

const newline = 10
const header = /^([0-9a-f]{40}) (?:(commit|tree|blob|tag) (\d+)|submodule)$/

/**
 * Asks `git cat-file --batch-command --buffer -z` for the type and size of an object. `spec` is an object name built by the server,
 * never raw user text: `<oid>`, `<oid>:<path>`, `refs/heads/x^{commit}`. `undefined` if it names no object, or is ambiguous.
 */
export const objectInfo = (helper: Helper, spec: Spec): Promise<ObjectInfo | undefined> =>
  helper.ask(new InfoQuestion(spec))

/** Like `objectInfo` for each of the specs, in their order. */
export const objectInfos = (helper: Helper, specs: readonly Spec[]): Promise<readonly (ObjectInfo | undefined)[]> =>
  askAll(
    helper,
    specs.map((spec) => new InfoQuestion(spec)),
  )

/** Like `objectInfo`, with the content if it has at most `maxBytes`; larger content is skipped. */
export function objectContent(helper: Helper, spec: Spec, maxBytes: number): Promise<ObjectContent | undefined> {
  return helper.ask(new ContentQuestion(spec, maxBytes))
}

/** Like `objectContent` for each of the specs, in their order. All contents are in memory at the same time. */
export const objectContents = (
  helper: Helper,
  specs: readonly Spec[],
  maxBytes: number,
): Promise<readonly (ObjectContent | undefined)[]> =>
  askAll(
    helper,
    specs.map((spec) => new ContentQuestion(spec, maxBytes)),
  )

type Spec = Buffer | string

/** A question about one object, alone or as one of many. */
abstract class ObjectQuestion<Answer> implements Question<Answer> {
  readonly command: Spec
  readonly #name: Spec

  constructor(verb: 'info' | 'contents', name: Spec) {
    this.command = commandOf(verb, name)
    this.#name = name
  }

  get request(): Buffer {
    return bytesOf(this.command)
  }

  reset(): void {}

  abstract read(inbox: Inbox): { answer: Answer } | undefined

  protected readHeader(inbox: Inbox): { info: ObjectInfo | undefined } | undefined {
    return readHeader(inbox, this.#name)
  }
}

const askAll = async <Answer>(
  helper: Helper,
  questions: readonly ObjectQuestion<Answer>[],
): Promise<readonly Answer[]> => (questions.length === 0 ? [] : helper.ask(new ManyQuestions(questions)))

/** Many questions that the helper gets, and answers, as one. */
class ManyQuestions<Answer> implements Question<readonly Answer[]> {
  readonly request: Buffer
  readonly #questions: readonly ObjectQuestion<Answer>[]
  #answers: Answer[] = []

  constructor(questions: readonly ObjectQuestion<Answer>[]) {
    const commands = questions.map(({ command }) => command)
    const isText = commands.every((command) => typeof command === 'string')
    this.request = isText ? Buffer.from(commands.join('')) : Buffer.concat(commands.map(bytesOf))
    this.#questions = questions
  }

  reset(): void {
    this.#answers = []
    for (const question of this.#questions) question.reset()
  }

  read(inbox: Inbox): { answer: readonly Answer[] } | undefined {
    while (this.#answers.length < this.#questions.length) {
      const found = this.#questions[this.#answers.length]!.read(inbox)
      if (!found) return undefined
      this.#answers.push(found.answer)
    }
    return { answer: this.#answers }
  }
}

class InfoQuestion extends ObjectQuestion<ObjectInfo | undefined> {
  constructor(name: Spec) {
    super('info', name)
  }

  override read(inbox: Inbox): { answer: ObjectInfo | undefined } | undefined {
    const head = this.readHeader(inbox)
    return head && { answer: head.info }
  }
}

class ContentQuestion extends ObjectQuestion<ObjectContent | undefined> {
  readonly #maxBytes: number
  #info: ObjectInfo | undefined
  #toSkip = 0

  constructor(name: Spec, maxBytes: number) {
    super('contents', name)
    this.#maxBytes = maxBytes
  }

  override reset(): void {
    this.#info = undefined
  }

  override read(inbox: Inbox): { answer: ObjectContent | undefined } | undefined {
    if (!this.#info) {
      const head = this.readHeader(inbox)
      if (!head) return undefined
      if (!head.info) return { answer: undefined }
      this.#info = head.info
      this.#toSkip = head.info.sizeBytes + 1
    }
    const info = this.#info
    if (info.sizeBytes > this.#maxBytes) {
      this.#toSkip -= inbox.skip(this.#toSkip)
      return this.#toSkip === 0 ? { answer: { ...info, content: undefined } } : undefined
    }
    if (inbox.size < info.sizeBytes + 1) return undefined
    const content = inbox.take(info.sizeBytes)
    inbox.skip(1)
    return { answer: { ...info, content } }
  }
}

const bytesOf = (spec: Spec): Buffer => (typeof spec === 'string' ? Buffer.from(spec, 'utf8') : spec)

function commandOf(verb: 'info' | 'contents', name: Spec): Spec {
  // A NUL would end the request early and shift all later answers.
  if (name.includes('\0')) throw new Error('an object name holds a NUL')
  return typeof name === 'string' ? `${verb} ${name}\0` : Buffer.concat([Buffer.from(`${verb} `), name, endOfName])
}

const endOfName = Buffer.from([0])

/**
 * Takes `<oid> <type> <size>\n`, or `<name> missing\n`, where the name, a path, may contain newlines. For the path of a submodule git 2.51 and
 * newer answer `<oid> submodule\n`.
 */
function readHeader(inbox: Inbox, name: Spec): { info: ObjectInfo | undefined } | undefined {
  const end = inbox.indexOf(newline)
  if (end < 0) return undefined
  // No name looks like a header: a bare object id is echoed with ` missing`, and a path contains a colon first.
  if (end < 200) {
    const found = header.exec(inbox.peekText(end))
    if (found) {
      inbox.skip(end + 1)
      if (found[2] === undefined) return { info: undefined }
      return { info: { oid: found[1] as Oid, type: found[2] as ObjectType, sizeBytes: Number(found[3]) } }
    }
  }
  const asked = bytesOf(name)
  const stop = inbox.indexOf(newline, asked.length)
  if (stop < 0) return undefined
  const echo = inbox.take(stop + 1)
  if (!echo.subarray(0, asked.length).equals(asked)) throw new Error('git cat-file answered something else')
  return { info: undefined }
}
