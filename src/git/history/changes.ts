import { emptyTreeOid, type Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { readCommit } from '../objects/commits.ts'
import { remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'
import type { Question } from '../runner/helper.ts'
import type { Inbox } from '../runner/inbox.ts'

/** What became of one file. */
export type ChangedFile = {
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed' | 'type_changed'
  /** The same as `newPath` unless renamed. */
  readonly oldPath: string
  readonly newPath: string
  /** `000000` when there is no file on that side. */
  readonly oldMode: string
  readonly newMode: string
  readonly oldOid: Oid | undefined
  readonly newOid: Oid | undefined
  /** Percent, for a rename. */
  readonly similarity: number | undefined
}

export type FileChange = ChangedFile & {
  /** Lines; `undefined` for binary files. */
  readonly additions: number | undefined
  readonly deletions: number | undefined
}

export type Changes = {
  /** In git's order of new paths, renames detected. */
  readonly files: readonly FileChange[]
  /** There are more files than 20,000; the rest is left out. */
  readonly truncated: boolean
  /** Of all files, also of those that are left out. */
  readonly stats: Stats
}

/** Lines. */
export type Stats = { readonly additions: number; readonly deletions: number; readonly total: number }

const maxFiles = 20_000

/**
 * What changed from one tree to another; a commit's id will not do. Asked of a long-lived `diff-tree --stdin`, and
 * remembered: one round trip, no process. Both trees must exist.
 */
export function changesBetweenTrees(repo: Repository, from: Oid, to: Oid): Promise<Changes> {
  return remember(
    repo,
    `changes ${from} ${to}`,
    async (repo) => {
      const helper = await repo.helper('diff-tree', 'diff-tree', {
        flags: ['--stdin', '-r', '--raw', '--numstat', '-z', '-M'],
      })
      return helper.ask(new ChangesQuestion(from, to))
    },
    ({ files }) => 500 * files.length,
  )
}

/**
 * As `changesBetweenTrees`, without a look into the files but for renames, so that no line is counted. Asked of a
 * long-lived `diff-tree --stdin`, and not remembered.
 */
export async function changedFiles(
  repo: Repository,
  from: Oid,
  to: Oid,
): Promise<{ readonly files: readonly ChangedFile[]; readonly truncated: boolean }> {
  const helper = await repo.helper('diff-tree --raw', 'diff-tree', { flags: ['--stdin', '-r', '--raw', '-z', '-M'] })
  return helper.ask(new ChangesQuestion(from, to))
}

/** What a commit changed against its first parent, or against nothing. `undefined` when there is no such commit. */
export async function commitChanges(repo: Repository, oid: Oid): Promise<Changes | undefined> {
  const commit = await readCommit(repo, oid)
  if (!commit) return undefined
  const parent = commit.parents[0] && (await readCommit(repo, commit.parents[0]))
  return changesBetweenTrees(repo, parent?.tree ?? emptyTreeOid, commit.tree)
}

/** Lines that a commit added and removed against its first parent. Cost as `changesBetweenTrees`. `undefined`: no such commit. */
export const commitStats = async (repo: Repository, oid: Oid): Promise<Stats | undefined> =>
  (await commitChanges(repo, oid))?.stats

const statuses: Record<string, ChangedFile['status']> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'type_changed',
}

/** `diff-tree` echoes, and flushes after, a line that is no object id; no record starts with this letter. */
const sentinel = 'end\n'

type Draft = { -readonly [Key in keyof FileChange]: FileChange[Key] }

class ChangesQuestion implements Question<Changes> {
  readonly request: Buffer
  #greeted = false
  #files: Draft[] = []
  #byPath = new Map<string, Draft>()
  #truncated = false
  #additions = 0
  #deletions = 0

  constructor(from: Oid, to: Oid) {
    this.request = Buffer.from(`${from} ${to}\n${sentinel}`)
  }

  reset(): void {
    this.#greeted = false
    this.#files = []
    this.#byPath = new Map()
    this.#truncated = false
    this.#additions = 0
    this.#deletions = 0
  }

  read(inbox: Inbox): { answer: Changes } | undefined {
    if (!this.#greeted) {
      const end = inbox.indexOf(0x0a)
      if (end < 0) return undefined
      // Of a tree that is not there git says nothing, and goes on to the next line.
      if (end < sentinel.length) throw new Error('a tree is missing')
      inbox.skip(end + 1)
      this.#greeted = true
    }
    while (inbox.size >= sentinel.length) {
      const first = inbox.peek(1)[0]
      if (first === 0x65) {
        inbox.skip(sentinel.length)
        const [additions, deletions] = [this.#additions, this.#deletions]
        const stats = { additions, deletions, total: additions + deletions }
        return { answer: { files: this.#files, truncated: this.#truncated, stats } }
      }
      if (!(first === 0x3a ? this.#readRaw(inbox) : this.#readStat(inbox))) return undefined
    }
    return undefined
  }

  #readRaw(inbox: Inbox): boolean {
    const taken = takeChangedFile(inbox)
    if (!taken) return false
    if (this.#files.length >= maxFiles) {
      this.#truncated = true
      return true
    }
    const file: Draft = { ...taken, additions: undefined, deletions: undefined }
    this.#files.push(file)
    this.#byPath.set(file.newPath, file)
    return true
  }

  /** `<added>\t<deleted>\t<path>\0`, or for renames `<added>\t<deleted>\t\0<old>\0<new>\0`; `-` for binary files. */
  #readStat(inbox: Inbox): boolean {
    const end = inbox.indexOf(0)
    if (end < 0) return false
    const line = Buffer.from(inbox.peek(end))
    const firstTab = line.indexOf(9)
    const secondTab = line.indexOf(9, firstTab + 1)
    const renamed = secondTab === line.length - 1
    const paths = takePaths(inbox, end, renamed ? 2 : 0)
    if (!paths) return false
    const additions = countOrNone(line.toString('latin1', 0, firstTab))
    const deletions = countOrNone(line.toString('latin1', firstTab + 1, secondTab))
    this.#additions += additions ?? 0
    this.#deletions += deletions ?? 0
    const file = this.#byPath.get(renamed ? paths[1]! : pathFromBytes(line.subarray(secondTab + 1)))
    if (file) Object.assign(file, { additions, deletions })
    return true
  }
}

/**
 * Takes a record of `diff-tree --raw -z`: `:<mode> <mode> <oid> <oid> <status>\0<path>\0`, with a second path for renames.
 * Nothing when not all of it has arrived.
 */
export function takeChangedFile(inbox: Inbox): ChangedFile | undefined {
  const end = inbox.indexOf(0)
  if (end < 0) return undefined
  const words = inbox.peek(end).toString('latin1', 1).split(' ')
  const [oldMode, newMode, oldOid, newOid, status] = words as [string, string, string, string, string]
  const renamed = status.startsWith('R')
  const paths = takePaths(inbox, end, renamed ? 2 : 1)
  return (
    paths && {
      status: statuses[status[0]!] ?? 'modified',
      oldPath: paths[0]!,
      newPath: paths.at(-1)!,
      oldMode,
      newMode,
      oldOid: objectOrNone(oldOid),
      newOid: objectOrNone(newOid),
      similarity: renamed ? Number(status.slice(1)) : undefined,
    }
  )
}

/** Takes the record that ends at `end` and the `count` paths behind it; nothing when not all have arrived. */
function takePaths(inbox: Inbox, end: number, count: number): string[] | undefined {
  const ends: number[] = []
  for (let at = end; ends.length < count; ) {
    at = inbox.indexOf(0, at + 1)
    if (at < 0) return undefined
    ends.push(at)
  }
  inbox.skip(end + 1)
  let start = end + 1
  return ends.map((stop) => {
    const path = pathFromBytes(inbox.take(stop - start))
    inbox.skip(1)
    start = stop + 1
    return path
  })
}

const objectOrNone = (oid: string) => (/^0+$/.test(oid) ? undefined : (oid as Oid))
const countOrNone = (text: string) => (text === '-' ? undefined : Number(text))
