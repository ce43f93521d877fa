import type { Oid } from '../format/oid.ts'
import { isTreePath, pathFromBytes, pathToBytes } from '../format/path-bytes.ts'
import { keep, remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'
import { objectContent, objectInfo } from './cat-file.ts'

export type TreeEntry = {
  /** Non-UTF-8 bytes as lone surrogates: see `path-bytes.ts`. */
  readonly name: string
  /** Six octal digits: `040000`, `100644`, `100755`, `120000` (a symbolic link), `160000` (a submodule). */
  readonly mode: string
  /** `commit` is a submodule, whose commit is not in this repository. */
  readonly type: 'tree' | 'blob' | 'commit'
  readonly oid: Oid
}

/** A tree entry and where it is. */
export type PathEntry = TreeEntry & { readonly path: string }

/** A directory of 500,000 files. */
export const maxTreeBytes = 64 * 1024 * 1024

/**
 * The entries of a tree in git's order, remembered; one round trip without a process when they are not. `treeish` may be
 * a commit. `undefined` when the repository has no such tree.
 */
export function readTree(repo: Repository, treeish: Oid): Promise<readonly TreeEntry[] | undefined> {
  return remember(
    repo,
    `tree ${treeish}`,
    async (repo) => {
      const found = await objectContent(await repo.objects(), `${treeish}^{tree}`, maxTreeBytes)
      return found?.content && parseTree(found.content, found.oid.length)
    },
    (entries) => 200 * entries.length,
  )
}

/** Remembers a tree that was just made, so that the next reader need not ask. */
export const rememberTree = (repo: Repository, tree: Oid, entries: readonly TreeEntry[]): void => {
  keep(repo, `tree ${tree}`, entries, 200 * entries.length)
}

/** As `readTree`, of the directory at `path` below `treeish`; `''` is the root. One round trip. */
export function readTreeAt(repo: Repository, treeish: Oid, path: string): Promise<readonly TreeEntry[] | undefined> {
  if (path === '') return readTree(repo, treeish)
  if (!isTreePath(path)) return Promise.resolve(undefined)
  return remember(
    repo,
    `tree ${treeish}:${path}`,
    async (repo) => {
      const spec = Buffer.concat([Buffer.from(`${treeish}:`), pathToBytes(path)])
      const found = await objectContent(await repo.objects(), spec, maxTreeBytes)
      return found?.type === 'tree' && found.content ? parseTree(found.content, found.oid.length) : undefined
    },
    (entries) => 200 * entries.length,
  )
}

/**
 * What is at `path` below a commit or tree; `sizeBytes` for blobs only. `undefined` when nothing is, and for the root, which
 * is no entry. One round trip the first time, no process.
 */
export const findEntry = async (repo: Repository, treeish: Oid, path: string): Promise<SizedEntry | undefined> =>
  isTreePath(path)
    ? remember(
        repo,
        `entry ${treeish}:${path}`,
        (repo) => lookUpEntry(repo, treeish, path),
        () => 300,
      )
    : undefined

type SizedEntry = PathEntry & { sizeBytes: number | undefined }

async function lookUpEntry(repo: Repository, treeish: Oid, path: string): Promise<SizedEntry | undefined> {
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  // The mode is only in the directory, the size only with the object: both are asked for at once.
  const [entries, info] = await Promise.all([
    readTreeAt(repo, treeish, slash < 0 ? '' : path.slice(0, slash)),
    repo
      .objects()
      .then((objects) => objectInfo(objects, Buffer.concat([Buffer.from(`${treeish}:`), pathToBytes(path)]))),
  ])
  const entry = entries?.find((candidate) => candidate.name === name)
  return entry && { ...entry, path, sizeBytes: entry.type === 'blob' ? info?.sizeBytes : undefined }
}

/** Reads the content of a tree object: `<mode> <name>\0<binary id>`, over and over. */
export function parseTree(content: Buffer, hexLength: number): TreeEntry[] {
  const entries: TreeEntry[] = []
  const idBytes = hexLength / 2
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const nul = content.indexOf(0, space)
    if (space < 0 || nul < 0 || nul + 1 + idBytes > content.length) throw new Error('a tree object is malformed')
    const mode = content.toString('latin1', at, space).padStart(6, '0')
    const oid = content.toString('hex', nul + 1, nul + 1 + idBytes) as Oid
    entries.push({ name: pathFromBytes(content.subarray(space + 1, nul)), mode, type: typeOfMode(mode), oid })
    at = nul + 1 + idBytes
  }
  return entries
}

export const typeOfMode = (mode: string): TreeEntry['type'] =>
  mode === '040000' ? 'tree' : mode === '160000' ? 'commit' : 'blob'
