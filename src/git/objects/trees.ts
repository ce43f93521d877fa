import { setImmediate } from 'node:timers/promises'
import { type Oid, oidBytes } from '../format/oid.ts'
import { isTreePath, pathFromBytes, pathToBytes } from '../format/path-bytes.ts'
import { getCached, memoize, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { blobSize } from './blobs.ts'
import { objectContent, objectInfo } from './cat-file.ts'
import { isLoose, readObject } from './read-object.ts'

export type TreeEntry = {
  /** Bytes that are not UTF-8 are lone surrogates: see `path-bytes.ts`. */
  readonly name: string
  /** Six octal digits: `040000`, `100644`, `100755`, `120000` (symbolic link), `160000` (submodule). */
  readonly mode: string
  /** Of an old history, as it is stored, such as `100664`: a tree with another change keeps it. */
  readonly rawMode?: string
  /** `commit` is a submodule; its commit is in another repository. */
  readonly type: 'tree' | 'blob' | 'commit'
  readonly oid: Oid
}

/** A tree entry with its path. */
export type PathEntry = TreeEntry & { readonly path: string }

/** Enough for about 500,000 entries. */
export const maxTreeBytes = 64 * 1024 * 1024

/**
 * The entries of a tree in git's order, without a process, then cached. `treeish` may be a commit.
 * `undefined` if the repository has no such tree.
 */
export function readTree(repo: Repository, treeish: Oid): Promise<readonly TreeEntry[] | undefined> {
  return memoize(
    repo,
    `tree ${treeish}`,
    async (repo) => {
      const found = await readObject(repo, treeish, maxTreeBytes, 'tree')
      return found?.content && parseInTurns(found.content)
    },
    (entries) => 200 * entries.length,
  )
}

/** Caches a tree that was just stored. */
export const cacheTree = (repo: Repository, tree: Oid, entries: readonly TreeEntry[]): void => {
  setCached(repo, `tree ${tree}`, entries, 200 * entries.length)
}

/** Like `readTree`, for the directory at `path` below `treeish`; `''` is the root. No process. */
export function readTreeAt(repo: Repository, treeish: Oid, path: string): Promise<readonly TreeEntry[] | undefined> {
  if (path === '') return readTree(repo, treeish)
  if (!isTreePath(path)) return Promise.resolve(undefined)
  return memoize(
    repo,
    `tree ${treeish}:${path}`,
    async (repo) => {
      const content = await readContentAt(repo, treeish, path)
      return content && parseInTurns(content)
    },
    (entries) => 200 * entries.length,
  )
}

/**
 * The content of the tree at `path` below another, or of this one if `path` is empty; not cached. `undefined` if there is none, or it is too large.
 */
export async function readContentAt(repo: Repository, treeish: Oid, path: string): Promise<Buffer | undefined> {
  if (path === '') return (await readObject(repo, treeish, maxTreeBytes, 'tree'))?.content
  if (!isTreePath(path)) return undefined
  if (isLoose(repo, treeish)) return readBelow(repo, treeish, path)
  const spec = Buffer.concat([Buffer.from(`${treeish}:`), pathToBytes(path)])
  const found = await objectContent(await repo.objects(), spec, maxTreeBytes)
  // It does not exist, or is lost.
  if (!found) return readBelow(repo, treeish, path)
  return found.type === 'tree' ? found.content : undefined
}

/** The content of the tree at `path` below another: reads each on the way. Throws `unavailable` if the repository has lost one. */
async function readBelow(repo: Repository, treeish: Oid, path: string): Promise<Buffer | undefined> {
  let oid = treeish
  for (const name of path.split('/')) {
    const entry = await entryOf(repo, oid, '', name)
    if (entry === undefined && oid !== treeish && !(await readObject(repo, oid, maxTreeBytes, 'tree')))
      throw repo.damage(`tree ${oid}`)
    if (entry?.type !== 'tree') return undefined
    oid = entry.oid
  }
  const found = await readObject(repo, oid, maxTreeBytes, 'tree')
  if (!found) throw repo.damage(`tree ${oid}`)
  return found.content
}

/** The entry of a name in the tree at `path` below another. A wide tree is neither decoded nor cached for it. */
async function entryOf(repo: Repository, treeish: Oid, path: string, name: string): Promise<TreeEntry | undefined> {
  const key = path === '' ? `tree ${treeish}` : `tree ${treeish}:${path}`
  const known = getCached<readonly TreeEntry[]>(repo, key)
  if (known) return known.find((candidate) => candidate.name === name)
  const content = await readContentAt(repo, treeish, path)
  if (!content) return undefined
  if (content.length > wideTreeBytes) return entryIn(content, name)
  const entries = parseTree(content)
  setCached(repo, key, entries, 200 * entries.length)
  return entries.find((candidate) => candidate.name === name)
}

/**
 * The entry at `path` below a commit or tree; `sizeBytes` only for blobs, and not if their object is missing. `undefined` if there is none, and for the root. No
 * process.
 */
export const findEntry = async (repo: Repository, treeish: Oid, path: string): Promise<SizedEntry | undefined> =>
  isTreePath(path)
    ? memoize(
        repo,
        `entry ${treeish}:${path}`,
        (repo) => lookUpEntry(repo, treeish, path),
        // A blob without a size was missing, or could not be read: it may be there the next time.
        ({ type, sizeBytes }) => (type === 'blob' && sizeBytes === undefined ? undefined : 300),
      )
    : undefined

type SizedEntry = PathEntry & { sizeBytes: number | undefined }

async function lookUpEntry(repo: Repository, treeish: Oid, path: string): Promise<SizedEntry | undefined> {
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  const inFolder = () => entryOf(repo, treeish, slash < 0 ? '' : path.slice(0, slash), name)
  if (isLoose(repo, treeish)) {
    const entry = await inFolder()
    return entry && { ...entry, path, sizeBytes: entry.type === 'blob' ? await blobSize(repo, entry.oid) : undefined }
  }
  // The directory has the mode, the object has the size: requests both concurrently.
  const [entry, info] = await Promise.all([
    inFolder(),
    repo
      .objects()
      .then((objects) => objectInfo(objects, Buffer.concat([Buffer.from(`${treeish}:`), pathToBytes(path)]))),
  ])
  return entry && { ...entry, path, sizeBytes: entry.type === 'blob' ? info?.sizeBytes : undefined }
}

/** The mode of symbolic links. */
export const symbolicLink = '120000'

/** A tree object that is no sequence of entries. */
export class MalformedTree extends Error {}

/** Parses the content of a tree object, a sequence of `<mode> <name>\0<binary id>`. Throws `MalformedTree`. */
export function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  parseSome(content, 0, Number.POSITIVE_INFINITY, entries)
  return entries
}

/** Larger trees have many thousands of entries. */
export const wideTreeBytes = 512 * 1024

const parsedInTurn = 10_000

/** As `parseTree`; other requests have their turn during wide trees. */
async function parseInTurns(content: Buffer): Promise<TreeEntry[]> {
  if (content.length <= wideTreeBytes) return parseTree(content)
  const entries: TreeEntry[] = []
  for (let at = 0; at < content.length; await setImmediate()) at = parseSome(content, at, parsedInTurn, entries)
  return entries
}

/** Adds up to `most` entries from an offset on; the offset after them. */
function parseSome(content: Buffer, from: number, most: number, entries: TreeEntry[]): number {
  let at = from
  for (let left = most; at < content.length && left > 0; left--) {
    const { space, nul, end } = partsAt(content, at)
    entries.push(decoded(content, at, space, nul))
    at = end
  }
  return at
}

/** The entry of a name, without those before it. Throws `MalformedTree`. */
function entryIn(content: Buffer, name: string): TreeEntry | undefined {
  const wanted = pathToBytes(name)
  for (let at = 0; at < content.length; ) {
    const { space, nul, end } = partsAt(content, at)
    if (nul - space - 1 === wanted.length && wanted.equals(content.subarray(space + 1, nul)))
      return decoded(content, at, space, nul)
    at = end
  }
  return undefined
}

function partsAt(content: Buffer, at: number): { space: number; nul: number; end: number } {
  const space = content.indexOf(0x20, at)
  const nul = content.indexOf(0, space)
  const end = nul + 1 + oidBytes
  if (space < 0 || nul < 0 || end > content.length) throw new MalformedTree('a tree object is malformed')
  return { space, nul, end }
}

function decoded(content: Buffer, at: number, space: number, nul: number): TreeEntry {
  const rawMode = content.toString('latin1', at, space)
  const mode = canonicalMode(rawMode)
  const oid = content.toString('hex', nul + 1, nul + 1 + oidBytes) as Oid
  const entry = { name: pathFromBytes(content.subarray(space + 1, nul)), mode, type: typeOfMode(mode), oid }
  return withoutZeros(rawMode) === withoutZeros(mode) ? entry : { ...entry, rawMode }
}

const withoutZeros = (mode: string) => (mode.startsWith('0') ? mode.replace(/^0+/, '') : mode)

/** The mode of an entry in six digits. Old histories contain other modes than those of `TreeEntry`; like git, takes those for the nearest. */
export function canonicalMode(raw: string): string {
  if (raw === '100644' || raw === '100755') return raw
  if (raw === '40000') return '040000'
  const mode = Number.parseInt(raw, 8)
  const type = mode & 0o170000
  if (type === 0o100000) return (mode & 0o100) === 0 ? '100644' : '100755'
  return type === 0o120000 ? symbolicLink : type === 0o040000 ? '040000' : '160000'
}

export const typeOfMode = (mode: string): TreeEntry['type'] =>
  mode === '040000' ? 'tree' : mode === '160000' ? 'commit' : 'blob'
