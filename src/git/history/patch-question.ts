import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import type { Question } from '../runner/helper.ts'
import type { Inbox } from '../runner/inbox.ts'
import { type ChangedFile, sentinel, skipGreeting, takeChangedFile } from './changes.ts'

/** Flags of `diff-tree` for records and a patch as `PatchReader` reads them, apart from those about renames. */
export const patchFlags = ['-r', '--raw', '-z', '-p', '-U3', '--no-color', '--no-ext-diff', '--no-textconv'] as const

type Patch = { readonly changes: readonly ChangedFile[]; readonly patch: Buffer }

/**
 * The changed files between two different trees, and git's patch, complete. One round trip to a long-lived `diff-tree --stdin`, for
 * small differences only: it answers one request after the other. Not cached.
 */
export async function readPatch(repo: Repository, from: Oid, to: Oid): Promise<Patch> {
  const helper = await repo.helper('diff-tree --patch', 'diff-tree', { flags: ['--stdin', ...patchFlags, '-M'] })
  return helper.ask(new PatchQuestion(from, to))
}

/** Lines of a patch begin with a mark or a known word, so no line of it equals the sentinel. */
const end = Buffer.from(`\n${sentinel}`)

class PatchQuestion implements Question<Patch> {
  readonly request: Buffer
  #greeted = false
  #changes: ChangedFile[] = []
  /** Undefined until the records are complete. Begins with a newline that does not belong to the patch. */
  #text: Buffer[] | undefined

  constructor(from: Oid, to: Oid) {
    this.request = Buffer.from(`${from} ${to}\n${sentinel}`)
  }

  reset(): void {
    this.#greeted = false
    this.#changes = []
    this.#text = undefined
  }

  read(inbox: Inbox): { answer: Patch } | undefined {
    this.#greeted ||= skipGreeting(inbox)
    if (!this.#greeted) return undefined
    this.#text ??= this.#readRecords(inbox)
    return this.#text && this.#readText(inbox, this.#text)
  }

  #readRecords(inbox: Inbox): Buffer[] | undefined {
    while (inbox.size > 0) {
      const first = inbox.peek(1)[0]
      if (first === 0) {
        inbox.skip(1)
        return [Buffer.from('\n')]
      }
      // Without a patch, the sentinel follows.
      if (first === sentinel.charCodeAt(0)) return [Buffer.from('\n')]
      const change = takeChangedFile(inbox)
      if (!change) return undefined
      this.#changes.push(change)
    }
    return undefined
  }

  #readText(inbox: Inbox, text: Buffer[]): { answer: Patch } | undefined {
    // The sentinel may have arrived in parts.
    const before = tailOf(text)
    const chunk = Buffer.concat([before, inbox.take(inbox.size)])
    const found = chunk.indexOf(end)
    if (found < 0) {
      text.push(chunk.subarray(before.length))
      return undefined
    }
    const stop = found + end.length
    inbox.push(chunk.subarray(stop))
    text.push(chunk.subarray(before.length, Math.max(stop, before.length)))
    const all = Buffer.concat(text)
    // From the newline at the beginning to the one that ends the patch.
    return { answer: { changes: this.#changes, patch: all.subarray(1, all.length - sentinel.length) } }
  }
}

/** The last bytes, fewer than the end of an answer has. */
function tailOf(text: readonly Buffer[]): Buffer {
  const last: Buffer[] = []
  let size = 0
  for (let at = text.length - 1; at >= 0 && size < end.length - 1; at--) {
    last.unshift(text[at]!)
    size += text[at]!.length
  }
  return Buffer.concat(last).subarray(Math.max(0, size - end.length + 1))
}
