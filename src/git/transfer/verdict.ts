import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { parseUpdate, type RefChange } from '../format/ref-change.ts'
import { maxNameBytes, maxSegmentBytes } from '../format/ref-name.ts'
import { withoutBroken } from '../refs/ref-files.ts'
import type { QuarantinedRepository, Repository } from '../repository/repository.ts'
import { reasonOf } from '../runner/damage.ts'
import { GitError } from '../runner/git-error.ts'
import { Inbox } from '../runner/inbox.ts'

export type PushRequest = {
  readonly updates: readonly RefChange[]
  /** As the client sent them with `-o`; any text. */
  readonly pushOptions: readonly string[]
  /** The repository including the objects of the push. Usable only until `onVerdict` resolves. */
  readonly quarantine: QuarantinedRepository
}

/** `messages` are lines that the client prints after `remote: `, for either outcome. */
export type Verdict = { readonly ok: boolean; readonly messages?: readonly string[] }

const maxRequestBytes = 64 * 1024 * 1024

/**
 * The server's side of `hooks/pre-receive`: reads the pushed refs, calls `decide`, and answers. Rejects the push if `decide`
 * throws or the request is malformed. Resolves with whether the push was accepted, and with the error of `decide` if there was
 * one. The channel stays open after an accepted push, and is ended otherwise.
 */
export async function converse(
  channel: Socket,
  repo: Repository,
  decide: (request: PushRequest) => Promise<Verdict>,
): Promise<{ accepted: boolean; error?: unknown }> {
  let accepted = false
  try {
    const request = await readRequest(channel)
    // The client pushed nothing, or git rejected everything: no answer is expected.
    if (!request) return { accepted }
    // A push that only deletes has no objects and no quarantine.
    const { objectDir, badName, ...rest } = request
    await using quarantine = repo.inQuarantine(objectDir === '' ? join(repo.gitDir, 'objects') : objectDir)
    const verdict = badName
      ? { ok: false, messages: [refusalOfName(badName)] }
      : await decideWhole({ ...rest, quarantine }, decide)
    const text = printableLines(verdict.messages ?? [])
      .map((line) => `:${line}\n`)
      .join('')
    // Helpers hold files of the quarantine open; they end before git moves it.
    await quarantine[Symbol.asyncDispose]()
    accepted = verdict.ok === true
    channel.write(`${text}${accepted ? 'ok' : 'no'}\n`)
    return { accepted }
  } catch (error) {
    if (channel.writable)
      channel.write(
        `${printableLines([reasonOf(error)])
          .map((line) => `:${line}\n`)
          .join('')}no\n`,
      )
    // For an aborted push, the exit code tells the reason.
    return isCutOff(error) ? { accepted: false } : { accepted: false, error }
  } finally {
    if (!accepted) channel.end()
  }
}

/**
 * Decides about a push of which git may have found already that something is missing: it runs the hook all the same, and reports that
 * afterwards. What the decision reads may end there, too.
 */
async function decideWhole(request: PushRequest, decide: (request: PushRequest) => Promise<Verdict>): Promise<Verdict> {
  try {
    return await decide(request)
  } catch (error) {
    if (error instanceof GitError && (await lacksObjects(request))) return incomplete
    throw error
  }
}

/** Whether git cannot walk all that is new with a push. One process. */
async function lacksObjects({ updates, quarantine }: PushRequest): Promise<boolean> {
  const tips = updates.flatMap(({ to }) => (to === null ? [] : `${to}\n`))
  const damaged = await withoutBroken(quarantine)
  const flags = ['--objects', '--quiet', '--not', ...damaged, '--all', '--not', '--stdin'] as const
  const { code } = await quarantine.run('rev-list', { flags, input: tips.join(''), accept: [0, 128], lane: 'transfer' })
  return code !== 0
}

const incomplete: Verdict = {
  ok: false,
  messages: [
    'The push refers to commits or files that neither it nor the repository has.',
    'If the clone is shallow, complete it first: git fetch --unshallow',
  ],
}

/** Splits messages into lines without control characters, which git would pass to the terminal of the user. */
export const printableLines = (messages: readonly string[]): string[] =>
  messages
    .flatMap((message) => message.split(/\r?\n/))
    .map((line) => line.replaceAll(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/g, '?'))

/** Whether the error means that git ended before the hook was finished. */
export const isCutOff = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Why a push cannot name a ref so. Git accepts any bytes in a push, but no API could name such a ref, and its own commands accept fewer
 * names.
 */
function refusalOfName(bytes: Buffer): string {
  if (!isUtf8(bytes)) return 'The name of a branch or tag must be text in UTF-8.'
  const name = bytes.toString('utf8')
  const isLong =
    bytes.length > maxNameBytes || name.split('/').some((part) => Buffer.byteLength(part) > maxSegmentBytes)
  if (isLong)
    return `The name of a branch or tag has at most ${maxNameBytes} bytes, and at most ${maxSegmentBytes} between slashes.`
  return name.startsWith('refs/')
    ? `A branch or tag cannot be called ${name}.`
    : `The reference ${name} cannot be pushed: only those below refs/ can.`
}

/** `badName`: a ref in it is not `parseUpdate`'s. */
type Request = Omit<PushRequest, 'quarantine'> & { objectDir: string; badName: Buffer | undefined }

/** Lines of `<word> <length> <bytes>`, up to `end`. `undefined` if the channel ends before. */
async function readRequest(channel: Socket): Promise<Request | undefined> {
  const inbox = new Inbox()
  const updates: RefChange[] = []
  const pushOptions: string[] = []
  let objectDir: string | undefined
  let badName: Buffer | undefined
  let received = 0
  const next = () => {
    const wordEnd = inbox.indexOf(0x20)
    const lengthEnd = wordEnd < 0 ? -1 : inbox.indexOf(0x20, wordEnd + 1)
    if (lengthEnd < 0) return undefined
    const [word, length] = inbox.peek(lengthEnd).toString('latin1').split(' ') as [string, string]
    const size = Number(length)
    if (!Number.isSafeInteger(size) || size < 0) throw new Error('unexpected message from the hook')
    if (inbox.size < lengthEnd + 1 + size + 1) return undefined
    inbox.skip(lengthEnd + 1)
    const bytes = inbox.take(size)
    inbox.skip(1)
    return { word, bytes, value: bytes.toString('utf8') }
  }
  for await (const chunk of channel.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += chunk.length
    if (received > maxRequestBytes) throw new Error('the push names too many refs')
    inbox.push(chunk)
    for (let line = next(); line; line = next()) {
      if (line.word === 'quarantine') objectDir = line.value
      else if (line.word === 'option') pushOptions.push(line.value)
      else if (line.word === 'ref') {
        const update = isUtf8(line.bytes) ? parseUpdate(line.value) : undefined
        if (update) updates.push(update)
        else badName ??= nameIn(line.bytes)
      } else if (line.word === 'end' && objectDir !== undefined) return { updates, pushOptions, objectDir, badName }
      else throw new Error('unexpected message from the hook')
    }
  }
  return undefined
}

/** The ref of `<old> <new> <ref>`. */
const nameIn = (update: Buffer): Buffer => update.subarray(update.indexOf(0x20, update.indexOf(0x20) + 1) + 1)
