import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { type Dag, LeaveToGit, nextTurn } from './dag.ts'
import { origin } from './origin.ts'
import { maxAhead, maxReads, PathReader } from './path-reader.ts'
import { Walk } from './walk.ts'

/** In nodes and seconds; both times are inclusive. */
type FollowFilters = {
  readonly tips: readonly number[]
  readonly path: string
  readonly since: number
  readonly until: number
}

/** Commits taken per batch: few for a short list, then more. */
const stretch = { first: 1024, most: 8192 }

/** Maximum commits of a history whose order is cached. */
const maxKept = 500_000

/** Maximum `origin` lookups, at most one process each; with more, git does the whole traversal. */
const maxOrigins = 25

/**
 * The first `limit` commits that `git log --follow` lists: it traverses all history and omits merges, and a commit that renamed
 * the file changes the path for all commits after it, on every line of history.
 */
export async function followFile(
  repo: Repository,
  dag: Dag,
  { tips, path, since, until }: FollowFilters,
  limit: number,
): Promise<number[]> {
  let reader = new PathReader(repo, dag, path, { left: maxReads.following })
  const origins = { left: maxOrigins }
  const found: number[] = []
  const isKept = since === 0 && dag.size <= maxKept
  const take = isKept ? taken(await orderOf(dag, tips)) : walked(dag, tips, since)
  if (isKept) reader.askFilters()
  for (let length = stretch.first; found.length < limit; length = Math.min(2 * length, stretch.most)) {
    const nodes = take(length)
    if (nodes.length === 0) break
    for (let at = 0; at < nodes.length && found.length < limit; ) {
      const [changes, end] = changesIn(dag, reader, nodes, at, Math.min(limit - found.length, maxAhead))
      reader.readAhead(changes.map((index) => nodes[index]!))
      at = end
      for (const index of changes) {
        const node = nodes[index]!
        const { isShown, madeOf } = await compare(repo, dag, reader, node, origins)
        if (isShown && dag.seconds(node) <= until) found.push(node)
        if (madeOf === undefined) continue
        reader = new PathReader(repo, dag, madeOf, reader.budget)
        at = index + 1
        break
      }
    }
    await nextTurn(dag)
  }
  return found
}

/** Returns up to `length` of the next candidate commits. */
type Take = (length: number) => ArrayLike<number>

const walked = (dag: Dag, tips: readonly number[], since: number): Take => {
  const walk = new Walk(dag, tips)
  return (length) => candidatesOf(dag, walk, since, length)
}

const taken = (order: Uint32Array): Take => {
  let at = 0
  return (length) => order.subarray(at, (at += length))
}

/** All candidates, independent of the path: most of the work for a path that changed rarely. */
const orderOf = (dag: Dag, tips: readonly number[]): Promise<Uint32Array> =>
  dag.order(tips, async () => {
    const order = new Uint32Array(dag.size)
    const walk = new Walk(dag, tips)
    for (let size = 0; ; await nextTurn(dag)) {
      const nodes = candidatesOf(dag, walk, 0, stretch.most)
      if (nodes.length === 0) return order.slice(0, size)
      order.set(nodes, size)
      size += nodes.length
    }
  })

/** Omits merges, and stops at commits older than `since`. */
function candidatesOf(dag: Dag, walk: Walk, since: number, length: number): number[] {
  const nodes: number[] = []
  while (nodes.length < length) {
    const node = walk.next()
    if (node === undefined) break
    if (dag.seconds(node) < since) continue
    if (dag.isMerge(node)) for (const parent of dag.parents(node)) walk.add(parent)
    else {
      nodes.push(node)
      const parent = dag.firstParent(node)
      if (parent >= 0) walk.add(parent)
    }
  }
  return nodes
}

/** Indexes of a limited number of commits, from `start`, that may have changed the path, and the index to continue at. */
function changesIn(
  dag: Dag,
  reader: PathReader,
  nodes: ArrayLike<number>,
  start: number,
  atMost: number,
): [changes: number[], end: number] {
  const changes: number[] = []
  let at = start
  for (; at < nodes.length && changes.length < atMost; at++)
    if (reader.maybeChanged(nodes[at]!) || dag.firstParent(nodes[at]!) < 0) changes.push(at)
  return [changes, at]
}

/** Whether a commit changed the path, and the previous name of the file if the commit renamed it. */
async function compare(
  repo: Repository,
  dag: Dag,
  reader: PathReader,
  node: number,
  origins: { left: number },
): Promise<{ isShown: boolean; madeOf?: string }> {
  const parent = dag.firstParent(node)
  if (parent >= 0 && (await reader.isSame(node, parent))) return { isShown: false }
  const [before, after] = [parent < 0 ? undefined : await reader.entry(parent), await reader.entry(node)]
  const isShown = after !== before
  // Like git: a file that replaces a directory is not followed further.
  if (parent < 0 || before !== undefined || after === undefined || isDirectory(after)) return { isShown }
  if (--origins.left < 0) throw new LeaveToGit('too many new files')
  const blob = after.slice(after.indexOf(' ') + 1) as Oid
  const madeOf = await origin(repo, { commit: dag.oid(node), parent: dag.oid(parent), path: reader.path, blob })
  if (madeOf === undefined) return { isShown }
  // Command line arguments are text; git cannot be asked about such a name.
  if (!madeOf.isWellFormed()) throw new LeaveToGit('a name that is no text')
  return { isShown, madeOf }
}

const isDirectory = (entry: string) => entry.startsWith('040000 ')
