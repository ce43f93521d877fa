import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing, isThere } from '../../kernel/missing.ts'
import { type CachedGraph, CommitGraph } from '../commit-graph/commit-graph.ts'
import { BrokenGraph, GraphLayer } from '../commit-graph/graph-layer.ts'
import { repairIndexes } from '../repository/damaged-indexes.ts'
import { identityOf } from '../repository/file-identity.ts'
import type { Repository } from '../repository/repository.ts'

const maxLayers = 100
const none = new CommitGraph([])
const opening = new Map<string, Promise<CachedGraph>>()

/**
 * The current commit-graph of a repository, empty if there is none. `'git'` if only git can read the history: the files are
 * corrupt or too large, or the repository is shallow or has grafts. Stats a few files and reads new ones. A graph may lack
 * recent commits but is never wrong, because commits are immutable.
 */
export async function openGraph(repo: Repository): Promise<CommitGraph | 'git'> {
  const info = infoOf(repo.gitDir)
  if (isThere(join(repo.gitDir, 'shallow')) || isThere(join(repo.gitDir, 'info/grafts'))) return 'git'
  const single = facts(join(info, 'commit-graph'))
  const file = single ?? facts(join(info, 'commit-graphs/commit-graph-chain'))
  if (!file) return none
  const { graphs } = repo.git
  const known = graphs.get(repo.gitDir)
  if (known?.file === file) return known.graph
  const reading = opening.get(repo.gitDir) ?? read(repo, single !== undefined, file, known, graphs.maxSize)
  opening.set(repo.gitDir, reading)
  try {
    const cached = await reading
    graphs.set(repo.gitDir, cached, { size: (cached.graph === 'git' ? 0 : cached.graph.sizeBytes) + 500 })
    return cached.graph
  } finally {
    opening.delete(repo.gitDir)
  }
}

/** Marks the graph as corrupt: git answers until it is rewritten. */
export function distrustGraph(repo: Repository): void {
  const known = repo.git.graphs.get(repo.gitDir)
  if (known) repo.git.graphs.set(repo.gitDir, { ...known, graph: 'git', layers: new Map() }, { size: 500 })
}

const infoOf = (gitDir: string) => join(gitDir, 'objects/info')

function facts(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${path} ${identityOf(found)}`
}

async function read(
  repo: Repository,
  single: boolean,
  file: string,
  known: CachedGraph | undefined,
  maxBytes: number,
): Promise<CachedGraph> {
  const info = infoOf(repo.gitDir)
  const layers = new Map<string, GraphLayer>()
  try {
    const ids = single ? ['commit-graph'] : await chain(join(info, 'commit-graphs/commit-graph-chain'))
    let base = 0
    let room = maxBytes - 1000
    for (const [index, id] of ids.entries()) {
      const place = single ? join(info, id) : join(info, 'commit-graphs', `graph-${id}.graph`)
      // The id of a layer is a digest of its file, but its base may have changed.
      const before = single ? undefined : known?.layers.get(id)
      const layer = before?.base === base ? before : new GraphLayer(await wholeContentOf(place, room), base)
      if (layer.below.join() !== ids.slice(0, index).join()) throw new BrokenGraph('a layer lies on others')
      layers.set(id, layer)
      base += layer.count
      room -= layer.sizeBytes
    }
    return { file, graph: new CommitGraph([...layers.values()]), layers }
  } catch (error) {
    // Git does not notice all damage, and would show another history. A disk that is read-only or full keeps the file.
    if (error instanceof DamagedGraph) await repairIndexes(repo).catch(() => {})
    // A chain may be replaced while its layers are read; the next call then finds and reads the new file.
    if (error instanceof BrokenGraph || isMissing(error)) return { file, graph: 'git', layers: new Map() }
    throw error
  }
}

/** Ids of the layers, lowest first. */
async function chain(path: string): Promise<string[]> {
  const ids = (await contentOf(path, maxLayers * 41)).toString('latin1').trim().split('\n')
  if (ids.some((id) => !/^[0-9a-f]{40}$/.test(id)) || new Set(ids).size < ids.length)
    throw new BrokenGraph('the chain names no layers')
  return ids
}

/** The content does not match its checksum. */
class DamagedGraph extends BrokenGraph {}

const sumBytes = 20

/** Like `contentOf` for a file that ends with the SHA-1 of what is before: 1-9 ms for 20,000 commits, in another thread. */
async function wholeContentOf(path: string, maxBytes: number): Promise<Buffer> {
  const content = await contentOf(path, maxBytes)
  const end = Math.max(0, content.length - sumBytes)
  const sum = Buffer.from(await crypto.subtle.digest('SHA-1', content.subarray(0, end)))
  if (!sum.equals(content.subarray(end))) throw new DamagedGraph('the checksum is another')
  return content
}

async function contentOf(path: string, maxBytes: number): Promise<Buffer> {
  await using handle: FileHandle = await open(path, 'r')
  const { size } = await handle.stat()
  if (size > maxBytes) throw new BrokenGraph('too large to cache')
  return handle.readFile()
}
