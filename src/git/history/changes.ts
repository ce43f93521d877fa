import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { readCommit, treeBefore } from '../objects/commits.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { LostObject } from '../runner/damage.ts'
import type { Question } from '../runner/helper.ts'
import type { Inbox } from '../runner/inbox.ts'
import { type AddedFile, addedFiles } from './added-files.ts'

/** The change of one file. */
export type ChangedFile = {
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed' | 'type_changed'
  /** Same as `newPath` unless renamed. */
  readonly oldPath: string
  readonly newPath: string
  /** `000000` if the file does not exist on that side. */
  readonly oldMode: string
  readonly newMode: string
  readonly oldOid: Oid | undefined
  readonly newOid: Oid | undefined
  /** Percent, for renames. */
  readonly similarity: number | undefined
}

export type FileChange = ChangedFile & {
  /** In lines; `undefined` for binary files. */
  readonly additions: number | undefined
  readonly deletions: number | undefined
}

export type Changes = {
  /** In git's order of new paths, with renames detected. */
  readonly files: readonly FileChange[]
  /** There are more than 20,000 files; the rest is omitted. */
  readonly truncated: boolean
  /** Of all files, including omitted ones. */
  readonly stats: Stats
}

/** In lines. */
export type Stats = { readonly additions: number; readonly deletions: number; readonly total: number }

export type ChangedFiles = { readonly files: readonly ChangedFile[]; readonly truncated: boolean }

const maxFiles = 20_000

/**
 * The changes between two trees, by tree id (commit ids do not work). One round trip at most, to a long-lived `diff-tree --stdin`;
 * cached. Both trees must exist.
 */
export function changesBetweenTrees(repo: Repository, from: Oid, to: Oid): Promise<Changes> {
  return memoize(
    repo,
    `changes ${from} ${to}`,
    async (repo) => {
      const added = await addedFiles(repo, from, to)
      return added ? additionsOf(added) : compare(repo, from, to)
    },
    ({ files }) => 500 * files.length,
  )
}

function additionsOf(added: readonly AddedFile[]): Changes {
  const files = added.map(
    ({ path, mode, oid, additions }): FileChange => ({
      ...{ status: 'added', oldPath: path, newPath: path, oldMode: '000000', newMode: mode, oldOid: undefined },
      ...{ newOid: oid, similarity: undefined, additions, deletions: additions === undefined ? undefined : 0 },
    }),
  )
  const additions = files.reduce((sum, file) => sum + (file.additions ?? 0), 0)
  return { files, truncated: false, stats: { additions, deletions: 0, total: additions } }
}

/** As git compares them, with its own search for renames. */
export async function compare(repo: Repository, from: Oid, to: Oid): Promise<Changes> {
  const helper = await repo.helper('diff-tree', 'diff-tree', {
    flags: ['--stdin', '-r', '--raw', '--numstat', '-z', '-M'],
  })
  return helper.ask(new ChangesQuestion(from, to))
}

/**
 * Like `changesBetweenTrees`, but reads file contents only to detect renames and counts no lines. One round trip to a
 * long-lived `diff-tree --stdin`; not cached.
 */
export async function changedFiles(repo: Repository, from: Oid, to: Oid): Promise<ChangedFiles> {
  const helper = await repo.helper('diff-tree --raw', 'diff-tree', { flags: ['--stdin', '-r', '--raw', '-z', '-M'] })
  return helper.ask(new ChangesQuestion(from, to))
}

/** The changes of a commit against its first parent, or against the empty tree. `undefined` if the commit does not exist. */
export async function commitChanges(repo: Repository, oid: Oid): Promise<Changes | undefined> {
  const commit = await readCommit(repo, oid)
  if (!commit) return undefined
  return changesBetweenTrees(repo, await treeBefore(repo, commit), commit.tree)
}

/**
 * Lines that a commit added and removed against its first parent. Costs as much as `changesBetweenTrees`. `undefined` if the
 * commit does not exist.
 */
export const commitStats = async (repo: Repository, oid: Oid): Promise<Stats | undefined> =>
  (await commitChanges(repo, oid))?.stats

const statuses: Record<string, ChangedFile['status']> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'type_changed',
}

/** `diff-tree` echoes a line that is not an object id, and flushes after it; no record starts with this letter. */
export const sentinel = 'end\n'

/** Skips the line with the two trees before an answer. False if it has not arrived; throws `LostObject` if a tree is missing. */
export function skipGreeting(inbox: Inbox): boolean {
  const end = inbox.indexOf(0x0a)
  if (end < 0) return false
  // Git prints nothing for a missing tree and continues with the next line.
  if (end < sentinel.length) throw new LostObject('a tree is missing')
  inbox.skip(end + 1)
  return true
}

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
    this.#greeted ||= skipGreeting(inbox)
    if (!this.#greeted) return undefined
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
 * `undefined` if it has not arrived completely.
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

/** Takes the record that ends at `end` and the `count` paths after it; `undefined` if they have not arrived completely. */
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
