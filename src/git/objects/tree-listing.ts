import { setImmediate } from 'node:timers/promises'
import { Failure } from '../../kernel/failure.ts'
import type { Oid } from '../format/oid.ts'
import { pathFromBytes, pathToBytes } from '../format/path-bytes.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { damageIn } from '../runner/damage.ts'
import { readCommit } from './commits.ts'
import { RawTree, readRawTree } from './raw-tree.ts'
import { readLooseObject } from './read-object.ts'
import {
  findEntry,
  MalformedTree,
  type PathEntry,
  parseTree,
  readContentAt,
  type TreeEntry,
  typeOfMode,
  wideTreeBytes,
} from './trees.ts'

/** Entries of a listing; only those of a requested page are decoded. */
export type PathEntries = readonly PathEntry[] | TreeListing

/** The index of the entry at a path; -1 if there is none. */
export const indexOfPath = (entries: PathEntries, path: string): number =>
  entries instanceof TreeListing ? entries.indexOf(path) : entries.findIndex((entry) => entry.path === path)

/**
 * The entries below the directory `path` (`''`: the root) of a commit: directories, then files, then submodules, each in git's
 * order (by bytes of the path, directories as if their names ended in `/`). `undefined` if the directory does not exist. Paths
 * are relative to the root. One round trip; with `recursive` one per level of directories that are not cached, and the result
 * is cached for paging. Throws `Failure('too_large')` for more than a million entries, and for more than 500 levels of directories.
 */
export async function listTree(
  repo: Repository,
  commit: Oid,
  path: string,
  { recursive = false }: { recursive?: boolean } = {},
): Promise<PathEntries | undefined> {
  const prefix = path === '' ? '' : `${path}/`
  if (!recursive) {
    const entries = await listDirectory(repo, commit, path)
    return entries instanceof TreeListing ? entries.withPrefix(prefix) : entries
  }
  const root = path === '' ? (await readCommit(repo, commit))?.tree : await directoryAt(repo, commit, path)
  if (!root) return undefined
  const below = await listBelow(repo, root)
  if (prefix === '') return below
  return below instanceof TreeListing
    ? below.withPrefix(prefix)
    : below.map((entry) => ({ ...entry, path: prefix + entry.path }))
}

/** The entries of one directory. Those of a wide one are decoded when they are asked for. Cached. */
const listDirectory = (repo: Repository, commit: Oid, path: string): Promise<PathEntries | undefined> =>
  memoize(
    repo,
    `directory ${commit}:${path}`,
    async (repo): Promise<TreeListing | readonly PathEntry[] | undefined> => {
      const content = await readContentAt(repo, commit, path)
      if (!content) return undefined
      if (content.length > wideTreeBytes) return joined(repo, new Map([[commit, new RawTree(content)]]), commit)
      const prefix = path === '' ? '' : `${path}/`
      return inOrder(parseTree(content).map((entry) => ({ ...entry, path: prefix + entry.name })))
    },
    (entries) => (entries instanceof TreeListing ? entries.sizeBytes : entries.length * 300),
  )

/** Like a recursive `listTree`, for the tree with this id, to which paths are relative. */
async function listBelow(repo: Repository, tree: Oid): Promise<TreeListing | readonly PathEntry[]> {
  let isTooLarge = false
  const listing = await listHere(repo, tree, maxEntries, () => {
    isTooLarge = true
  })
  if (listing) return listing
  if (isTooLarge) throw tooManyEntries()
  return memoize(
    repo,
    `ls-tree ${tree}`,
    async (repo) => inOrder(await readByGit(repo, tree)),
    (entries) => entries.length * 300,
  )
}

/**
 * All entries below a tree, with paths relative to it, without a git process. `undefined` if git should list them: the different
 * trees have more than `most` entries, or some are very deep, missing or malformed. Cached. `onTooLarge` is called for too many entries or levels.
 */
export const listHere = (
  repo: Repository,
  tree: Oid,
  most: number,
  onTooLarge = () => {},
): Promise<TreeListing | undefined> =>
  memoize(
    repo,
    `listing ${tree}`,
    async (repo) => {
      const trees = await readTreesBelow(repo, tree, most)
      if (trees !== 'too_large') return trees && joined(repo, trees, tree)
      // Not an exception: concurrent callers, who share this, may want more.
      onTooLarge()
      return undefined
    },
    ({ sizeBytes }) => sizeBytes,
  )

async function directoryAt(repo: Repository, commit: Oid, path: string) {
  const entry = await findEntry(repo, commit, path)
  return entry?.type === 'tree' ? entry.oid : undefined
}

type Directory = { readonly tree: RawTree; readonly path: string }

/** All entries below a tree: directories, then files, then submodules. */
export class TreeListing {
  readonly #directories: readonly Directory[]
  /** For each entry: the index of its directory, and its index there. */
  readonly #places: Uint32Array
  readonly #prefix: string
  /** Indexes of the first file and of the first submodule. */
  readonly #files: readonly [start: number, end: number]

  constructor(
    directories: readonly Directory[],
    places: Uint32Array,
    files: readonly [start: number, end: number],
    prefix = '',
  ) {
    this.#directories = directories
    this.#places = places
    this.#files = files
    this.#prefix = prefix
  }

  get length(): number {
    return this.#places.length / 2
  }

  /** Approximate size in memory, with the trees, which it holds even when they are no longer cached themselves. */
  get sizeBytes(): number {
    const trees = new Set(this.#directories.map(({ tree }) => tree))
    const bytes = [...trees].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    return this.#places.byteLength + 200 * this.#directories.length + bytes
  }

  /** The same entries with another directory before their paths. */
  withPrefix(prefix: string): TreeListing {
    return new TreeListing(this.#directories, this.#places, this.#files, prefix)
  }

  slice(start = 0, end = this.length): PathEntry[] {
    const entries: PathEntry[] = []
    for (let index = start; index < Math.min(end, this.length); index++) entries.push(this.#entry(index))
    return entries
  }

  /** The index of the entry at a path, of which no other is decoded; -1 if there is none. */
  indexOf(path: string): number {
    if (!path.startsWith(this.#prefix)) return -1
    const below = path.slice(this.#prefix.length)
    const slash = below.lastIndexOf('/') + 1
    const name = pathToBytes(below.slice(slash))
    const directory = this.#directories.findIndex((each) => each.path === below.slice(0, slash))
    if (directory < 0) return -1
    const { tree } = this.#directories[directory]!
    for (let index = 0; index < this.length; index++)
      if (this.#places[2 * index] === directory && tree.isNamed(this.#places[2 * index + 1]!, name)) return index
    return -1
  }

  /** Calls `visit` for each file (also for symbolic links), with the buffer and the offset of its binary object id. */
  forEachFile(visit: (ids: Buffer, at: number, index: number) => void): void {
    for (let index = this.#files[0]; index < this.#files[1]; index++) {
      const { tree } = this.#directories[this.#places[2 * index]!]!
      visit(tree.content, tree.idAt(this.#places[2 * index + 1]!), index)
    }
  }

  #entry(index: number): PathEntry {
    const { tree, path } = this.#directories[this.#places[2 * index]!]!
    const at = this.#places[2 * index + 1]!
    const name = tree.name(at)
    return {
      mode: tree.mode(at),
      type: tree.type(at),
      oid: tree.oid(at),
      path: this.#prefix + path + name,
      name,
    }
  }
}

/** Limits of a listing. */
const maxEntries = 1_000_000
const maxDepth = 500
const readAtOnce = 500
/** Trees that are looked for as files: large listings are read from packs faster. */
const mostFiles = 100

/**
 * The different trees from `root` downwards, by id: trees of earlier listings are cached, and commits share most of them with
 * others. `undefined` if git should list them, because a tree is missing or malformed.
 */
async function readTreesBelow(
  repo: Repository,
  root: Oid,
  most: number,
): Promise<ReadonlyMap<Oid, RawTree> | 'too_large' | undefined> {
  const trees = new Map<Oid, RawTree>()
  let [entries, bytes] = [0, 0]
  let level: Oid[] = [root]
  let files = 0
  const readFile = async (oid: Oid) => (files++ < mostFiles ? readLooseObject(repo, oid) : undefined)
  for (let depth = 0; level.length > 0; depth++) {
    const below = new Set<Oid>()
    for (let at = 0; at < level.length; at += readAtOnce) {
      repo.signal?.throwIfAborted()
      const some = level.slice(at, at + readAtOnce)
      // Asked for each time: the process is replaced now and then.
      const objects = await repo.objects()
      const found = await Promise.all(
        some.map((oid) => readRawTree(repo, objects, oid, readFile).catch(ignoreMalformed)),
      )
      for (const [index, tree] of found.entries()) {
        if (!tree) return undefined
        entries += tree.length
        bytes += tree.content.length
        if (entries > most || bytes > maxListedBytes || depth > maxDepth) return 'too_large'
        trees.set(some[index]!, tree)
        for (let each = 0; each < tree.length; each++) if (tree.type(each) === 'tree') below.add(tree.oid(each))
      }
    }
    level = [...below].filter((oid) => !trees.has(oid))
  }
  return trees
}

/** Git reports what is wrong with a malformed tree; other failures remain failures. */
function ignoreMalformed(error: unknown): undefined {
  if (!(error instanceof MalformedTree)) throw error
}

/** Entries between two yields to the event loop. */
const stride = 50_000

/** The entries below `root`, of those trees that are given. The same tree may occur at many paths, so the limit applies to the result. */
async function joined({ signal }: Repository, trees: ReadonlyMap<Oid, RawTree>, root: Oid): Promise<TreeListing> {
  const directories: Directory[] = []
  const places: Record<TreeEntry['type'], number[]> = { tree: [], blob: [], commit: [] }
  const open: { tree: RawTree; number: number; path: string; at: number }[] = []
  const enter = (tree: RawTree, path: string) => {
    open.push({ tree, number: directories.push({ tree, path }) - 1, path, at: 0 })
  }
  enter(trees.get(root)!, '')
  let size = 0
  let entries = 0
  for (let steps = 1; open.length > 0; steps++) {
    const directory = open.at(-1)!
    const { tree, number, path, at } = directory
    if (at === tree.length) {
      open.pop()
      continue
    }
    directory.at++
    const type = tree.type(at)
    places[type].push(number, at)
    size += lineBytes + path.length
    if (size > maxListedBytes || ++entries > maxEntries) throw tooManyEntries()
    const below = type === 'tree' ? trees.get(tree.oid(at)) : undefined
    if (below) enter(below, `${path}${tree.name(at)}/`)
    if (steps % stride === 0) {
      await setImmediate()
      signal?.throwIfAborted()
    }
  }
  const [start, end] = [places.tree.length, places.tree.length + places.blob.length]
  const all = new Uint32Array(end + places.commit.length)
  all.set(places.tree)
  all.set(places.blob, start)
  all.set(places.commit, end)
  return new TreeListing(directories, all, [start / 2, end / 2])
}

const maxListedBytes = 256 * 1024 * 1024

/** Of a line of `ls-tree`: mode, type, object id, and a short name. */
const lineBytes = 64

const tooManyEntries = () => new Failure('too_large', 'The tree has too many entries')

async function readByGit(repo: Repository, root: Oid): Promise<PathEntry[]> {
  const command = { flags: ['-r', '-t', '-z', '--full-tree'], args: [root] } as const
  const limit = { bytes: maxListedBytes, beyond: tooManyEntries }
  const entries: PathEntry[] = []
  try {
    for await (const lines of repo.records('ls-tree', command, { end: '\0', limit })) {
      for (const line of lines) entries.push(parseLine(line))
      if (entries.length > maxEntries) throw tooManyEntries()
    }
  } catch (error) {
    // The root was read before, so objects below it are missing, malformed, or have been removed meanwhile.
    const damage = damageIn(error)
    throw damage ? new Failure('unavailable', 'The tree cannot be read', { cause: damage }) : error
  }
  return entries
}

/** `<mode> <type> <oid>\t<path>` */
function parseLine(line: Buffer): PathEntry {
  const tab = line.indexOf(9)
  const [mode, , oid] = line.toString('latin1', 0, tab).split(' ') as [string, string, Oid]
  const path = pathFromBytes(line.subarray(tab + 1))
  return { mode, type: typeOfMode(mode), oid, path, name: path.slice(path.lastIndexOf('/') + 1) }
}

const kinds = { tree: 0, blob: 1, commit: 2 }

// A stable sort: each type stays in git's order.
const inOrder = (entries: readonly PathEntry[]) => entries.toSorted((a, b) => kinds[a.type] - kinds[b.type])
