import { Failure } from '../../kernel/failure.ts'
import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'
import { findEntry, type PathEntry, readTreeAt, typeOfMode } from './trees.ts'

const kinds = { tree: 0, blob: 1, commit: 2 }
const maxListedBytes = 256 * 1024 * 1024

/**
 * The entries below the directory `path` (`''`: the root) of a commit: directories, then files, then submodules, each in git's
 * order (by bytes of the path, directories as if their names ended in `/`). `undefined` if the directory does not exist. Paths
 * are relative to the root. One round trip; with `recursive` one `ls-tree` process, whose result is cached for paging. Throws
 * `Failure('too_large')` for more than about a million entries.
 */
export async function listTree(
  repo: Repository,
  commit: Oid,
  path: string,
  { recursive = false }: { recursive?: boolean } = {},
): Promise<readonly PathEntry[] | undefined> {
  const prefix = path === '' ? '' : `${path}/`
  if (!recursive) {
    const entries = await readTreeAt(repo, commit, path)
    return entries && inOrder(entries.map((entry) => ({ ...entry, path: prefix + entry.name })))
  }
  const root = path === '' ? commit : await directoryAt(repo, commit, path)
  if (!root) return undefined
  const below = await remember(
    repo,
    `ls-tree ${root}`,
    async (repo) => inOrder(await readRecursively(repo, root)),
    (entries) => entries.length * 300,
  )
  return prefix === '' ? below : below.map((entry) => ({ ...entry, path: prefix + entry.path }))
}

async function directoryAt(repo: Repository, commit: Oid, path: string) {
  const entry = await findEntry(repo, commit, path)
  return entry?.type === 'tree' ? entry.oid : undefined
}

async function readRecursively(repo: Repository, root: Oid): Promise<PathEntry[]> {
  const child = await repo.start('ls-tree', { flags: ['-r', '-t', '-z', '--full-tree'], args: [root] })
  const entries: PathEntry[] = []
  let rest: Buffer = Buffer.alloc(0)
  let size = 0
  for await (const chunk of child as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxListedBytes) {
      child.kill('SIGKILL')
      throw new Failure('too_large', 'The tree has too many entries')
    }
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    for (let nul = bytes.indexOf(0); nul >= 0; nul = bytes.indexOf(0, at)) {
      entries.push(parseLine(bytes.subarray(at, nul)))
      at = nul + 1
    }
    rest = bytes.subarray(at)
  }
  const { code } = await child.done
  // `commit` was resolved before, so the objects have been removed meanwhile.
  if (code !== 0) throw new Failure('unavailable', 'The tree cannot be read')
  return entries
}

/** `<mode> <type> <oid>\t<path>` */
function parseLine(line: Buffer): PathEntry {
  const tab = line.indexOf(9)
  const [mode, , oid] = line.toString('latin1', 0, tab).split(' ') as [string, string, Oid]
  const path = pathFromBytes(line.subarray(tab + 1))
  return { mode, type: typeOfMode(mode), oid, path, name: path.slice(path.lastIndexOf('/') + 1) }
}

// A stable sort: each type stays in git's order.
const inOrder = (entries: readonly PathEntry[]) => entries.toSorted((a, b) => kinds[a.type] - kinds[b.type])
