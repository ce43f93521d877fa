import { hash } from 'node:crypto'
import { type Oid, oidLength } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { branchName, tagName } from '../format/ref-name.ts'
import { type Commit, readCommit } from '../objects/commits.ts'
import { readTree, type TreeEntry } from '../objects/trees.ts'
import { brokenRefs, readRefFiles } from '../refs/ref-files.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { damageIn } from '../runner/damage.ts'

/** A file of a commit that differs from the file in each parent. */
export type NewFile = {
  readonly path: string
  readonly oid: Oid
  /** No parent has a file at this path, at most a submodule or a folder: it was added, or renamed to it. */
  readonly isAdded: boolean
}

/** A commit with its new files. Submodules are no files. */
export type NewCommit = { readonly oid: Oid; readonly files: readonly NewFile[] }

const maxCommitsAtOnce = 200
const maxFilesAtOnce = 2000

/** Git would flush its output after each commit, which costs a system call, and wakes the readers of both pipes. */
const unflushed = { GIT_FLUSH: '0' }

/** Flags for branches and tags, except those whose files are damaged, with which git fails. */
async function flagsOfRefs(repo: Repository) {
  const broken = await brokenRefs(repo)
  const except = (nameOf: typeof branchName) =>
    broken.flatMap((ref) => nameOf(ref) ?? []).map((name) => `--exclude=${name}` as const)
  return [...except(branchName), '--branches', ...except(tagName), '--tags'] as const
}

/**
 * The commits in the history of `tips` that no branch or tag reaches yet, newest first, in batches. A commit with thousands of
 * files comes in several parts, in a row. Commits that only hidden refs reach, such as those of merge requests from forks, count
 * as new. One process for all; memory does not grow with their number.
 */
export async function* newCommits(
  repo: Repository,
  tips: readonly Oid[],
  { withFiles }: { readonly withFiles: boolean },
): AsyncIterable<readonly NewCommit[]> {
  const flags = withFiles ? (['--format=format:%x00%H', '--raw', '--no-abbrev', ...filesOfCommits] as const) : []
  const batch = new Batch()
  for await (const tokens of listed(repo, withFiles ? 'log' : 'rev-list', flags, tips)) {
    for (const token of tokens) {
      batch.add(token)
      if (batch.isFull) yield batch.take()
    }
  }
  if (batch.hasCommits) yield batch.take()
}

/**
 * The paths of files and submodules that the commits of `newCommits` change, remove or add, as against each parent, in batches; a path may come
 * several times. One process.
 */
export async function* pathsOfNewCommits(repo: Repository, tips: readonly Oid[]): AsyncIterable<readonly string[]> {
  for await (const tokens of listed(repo, 'log', ['--format=', '--name-only', ...filesOfCommits], tips))
    yield tokens.flatMap((token) => (token.length > 0 ? pathFromBytes(token) : []))
}

/** What `log` lists of files; of a merge only those that differ from all parents. */
const filesOfCommits = [
  ...(['-z', '--no-renames', '--root', '-c'] as const),
  ...(['--no-show-signature', '--no-decorate', '--ignore-submodules=none'] as const),
]

/**
 * Throws the damage if git cannot read the history of a branch or tag: it would take what they have for new, without an error. Call it before a push
 * is refused because of what is new with it. One process that walks all commits, unless no branch or tag has moved since.
 */
export async function requireReadableRefs(repo: Repository): Promise<void> {
  const base = repo.base ?? repo
  const tips = await digestOfTips(base)
  if (tips === undefined) await walkRefs(base)
  else await memoize(base, `readable refs ${tips}`, walkRefs, () => 100)
}

/** `undefined` if git has to read the refs. */
async function digestOfTips(repo: Repository): Promise<string | undefined> {
  const oids: Oid[] = []
  for (const folder of ['refs/heads', 'refs/tags'] as const) {
    const refs = await readRefFiles(repo, folder, { broken: 'omit' })
    if (refs === 'ask') return undefined
    for (const { oid } of refs) oids.push(oid)
  }
  return hash('sha1', oids.join('\n'))
}

async function walkRefs(repo: Repository): Promise<object> {
  const flags = ['--count', ...(await flagsOfRefs(repo))] as const
  try {
    await repo.run('rev-list', { flags, lane: 'transfer', timeoutMs: 10 * 60_000 })
    return {}
  } catch (error) {
    throw damageIn(error) ? repo.damage('history of a branch or tag') : error
  }
}

/** Tokens of a listing of what no branch or tag reaches yet: `rev-list` ends each with a newline, `log -z` with a NUL. */
async function* listed(
  repo: Repository,
  subcommand: 'log' | 'rev-list',
  flags: readonly `-${string}`[],
  tips: readonly Oid[],
): AsyncIterable<readonly Buffer[]> {
  const command = {
    flags: [...flags, '--not', ...(await flagsOfRefs(repo)), '--not', '--stdin'],
    // A push may name more refs than fit into a command line.
    input: tips.map((oid) => `${oid}\n`).join(''),
    lane: 'transfer',
    timeoutMs: 10 * 60_000,
    env: unflushed,
  } as const
  yield* repo.records(subcommand, command, { end: subcommand === 'log' ? '\0' : '\n' })
}

type Draft = { readonly oid: Oid; readonly files: NewFile[] }

const newline = 0x0a
const digitZero = 0x30
const colon = 0x3a

/**
 * Reads tokens of `log -z --raw`: `<oid>`, or `<oid>\n<change>`; `<change>` followed by `<path>`; and empty ones. A change is
 * `:<mode> <mode> <oid> <oid> <status>`, with one more colon, mode and oid for each further parent of a merge.
 */
class Batch {
  #commits: Draft[] = []
  #fileCount = 0
  /** The change whose path is the next token; `skipped` if it is no new file. */
  #change: { readonly oid: Oid; readonly isAdded: boolean } | 'skipped' | undefined

  get hasCommits(): boolean {
    return this.#commits.length > 0
  }

  get isFull(): boolean {
    return this.#fileCount >= maxFilesAtOnce || this.#commits.length > maxCommitsAtOnce
  }

  add(token: Buffer): void {
    const change = this.#change
    if (change !== undefined) {
      this.#change = undefined
      if (change === 'skipped') return
      this.#commits.at(-1)!.files.push({ path: pathFromBytes(token), ...change })
      this.#fileCount++
    } else if (token[0] === colon) this.#change = readChange(token)
    else if (token.length > 0) {
      const end = token.indexOf(newline)
      this.#commits.push({ oid: token.toString('latin1', 0, end < 0 ? token.length : end) as Oid, files: [] })
      if (end >= 0) this.#change = readChange(token.subarray(end + 1))
    }
  }

  take(): readonly NewCommit[] {
    const taken = this.#commits
    const last = taken.at(-1)!
    // Further files of the last commit may follow.
    this.#commits = [{ oid: last.oid, files: [] }]
    this.#fileCount = 0
    return taken
  }
}

const modeLength = '100644 '.length

/** Git writes modes with six digits, of which the first is 0 if there is no file, and the second 6 for a submodule. */
function readChange(token: Buffer): { oid: Oid; isAdded: boolean } | 'skipped' {
  let parents = 0
  while (token[parents] === colon) parents++
  const mode = parents + parents * modeLength
  const isFile = (at: number) => token[at] !== digitZero && token[at + 1] !== digitZero + 6
  if (!isFile(mode)) return 'skipped'
  let isAdded = true
  for (let old = parents; old < mode; old += modeLength) if (isFile(old)) isAdded = false
  const oids = mode + modeLength
  const oid = oids + parents * (oidLength + 1)
  return { oid: token.toString('latin1', oid, oid + oidLength) as Oid, isAdded }
}

/** Beyond these limits `newCommits` is faster, or needs less memory. */
const maxFew = 20
const maxEntries = 50_000

/**
 * Like `newCommits`, without a process, for few commits on top of `known` ones. Returns a superset: it may contain commits that
 * other refs reach. `undefined` if there are many.
 */
export async function fewNewCommits(
  repo: Repository,
  tips: readonly Oid[],
  known: ReadonlySet<Oid>,
): Promise<readonly NewCommit[] | undefined> {
  const found = new Map<Oid, Commit>()
  let next = [...new Set(tips)].filter((oid) => !known.has(oid))
  while (next.length > 0) {
    if (found.size + next.length > maxFew) return undefined
    for (const oid of next) {
      const commit = await readCommit(repo, oid)
      if (commit?.oid !== oid) return undefined
      found.set(oid, commit)
    }
    next = [...new Set(next.flatMap((oid) => found.get(oid)!.parents))].filter(
      (oid) => !known.has(oid) && !found.has(oid),
    )
  }
  const compared = new TreeComparison(repo)
  const commits: NewCommit[] = []
  for (const { oid, tree, parents } of found.values()) {
    const before: Oid[] = []
    for (const parent of parents) {
      const commit = found.get(parent) ?? (await readCommit(repo, parent))
      if (!commit) return undefined
      before.push(commit.tree)
    }
    const files = await compared.newFiles(tree, before)
    if (!files) return undefined
    commits.push({ oid, files })
  }
  return commits
}

/** Compares trees through the object cache. */
class TreeComparison {
  readonly #repo: Repository
  #entries = 0

  constructor(repo: Repository) {
    this.#repo = repo
  }

  /** The files of a tree that differ from those in each tree `before`; `undefined` if there are too many entries. */
  async newFiles(tree: Oid, before: readonly Oid[], prefix = ''): Promise<NewFile[] | undefined> {
    if (before.includes(tree)) return []
    const entries = await this.#read(tree)
    const old = await Promise.all(before.map((oid) => this.#read(oid)))
    if (!entries || old.some((each) => !each)) return undefined
    const byName = old.map((each) => new Map(each!.map((entry) => [entry.name, entry])))
    const files: NewFile[] = []
    for (const { name, type, oid } of entries) {
      if (type === 'commit') continue
      const were = byName.map((each) => each.get(name))
      if (were.some((was) => was?.oid === oid && was.type === type)) continue
      const path = prefix + name
      if (type === 'blob') {
        files.push({ path, oid, isAdded: were.every((was) => was?.type !== 'blob') })
        continue
      }
      const folders = were.flatMap((was) => (was?.type === 'tree' ? was.oid : []))
      const inside = await this.newFiles(oid, folders, `${path}/`)
      if (!inside) return undefined
      for (const file of inside) files.push(file)
    }
    return files
  }

  async #read(oid: Oid): Promise<readonly TreeEntry[] | undefined> {
    if (this.#entries > maxEntries) return undefined
    const entries = await readTree(this.#repo, oid)
    this.#entries += entries?.length ?? 0
    return entries
  }
}

/**
 * Those of the given blobs that the new commits of `tips` bring: blobs of the commits on which they build do not count, even at
 * another path. One process that lists all objects of the new commits.
 */
export async function newBlobsAmong(
  repo: Repository,
  tips: readonly Oid[],
  oids: ReadonlySet<Oid>,
): Promise<ReadonlySet<Oid>> {
  // The trees of all branches count, not only those of the commits on which the new ones build.
  const flags = ['--objects-edge-aggressive', '--no-object-names', '--ignore-missing'] as const
  const found = new Set<Oid>()
  for await (const tokens of listed(repo, 'rev-list', flags, tips)) {
    for (const token of tokens) {
      const oid = token.toString('latin1') as Oid
      if (oids.has(oid)) found.add(oid)
    }
  }
  return found
}
