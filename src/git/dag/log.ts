import type { Oid } from '../oid.ts'
import type { Repository } from '../repository.ts'
import { breathe, type Dag, LeaveToGit } from './dag.ts'
import { origin } from './origin.ts'
import { maxReads, PathReader } from './path-reader.ts'
import { between } from './reach.ts'
import { StableQueue } from './stable-queue.ts'

export type LogFilters = {
  readonly from: readonly Oid[]
  readonly excluding?: readonly Oid[]
  readonly path?: string
  readonly follow?: boolean
  /** Seconds since 1970, both included. */
  readonly since?: number
  readonly until?: number
  readonly firstParent?: boolean
}

/** Whether a commit belongs to the list, and where its history goes on. */
type Step = { readonly shown: boolean; readonly next: readonly number[] }
type Judge = (node: number) => Step | Promise<Step>

/** The first `limit` commits that pass, in the order of `git rev-list`, or of `git log --follow`. */
export async function log(repo: Repository, dag: Dag, filters: LogFilters, limit: number): Promise<number[]> {
  const { from, since = 0, until = Number.POSITIVE_INFINITY } = filters
  const tips = from.map((oid) => dag.node(oid))
  const judge = await judgeFor(repo, dag, filters, tips, limit)
  const found: number[] = []
  const seen = new Uint8Array(dag.size)
  const queue = new StableQueue()
  const see = (node: number) => {
    if (seen[node]) return
    seen[node] = 1
    queue.push(node, dag.seconds(node))
  }
  for (const tip of tips) see(tip)
  for (let steps = 1; queue.size > 0 && found.length < limit; steps++) {
    const node = queue.pop()!
    const seconds = dag.seconds(node)
    // As git: what is too old ends its line, what is too young is only not shown.
    if (seconds < since) continue
    const step = judge(node)
    const { shown, next } = step instanceof Promise ? await step : step
    for (const parent of next) see(parent)
    if (shown && seconds <= until) found.push(node)
    await breathe(steps)
  }
  return found
}

async function judgeFor(
  repo: Repository,
  dag: Dag,
  { excluding = [], path, follow = false, firstParent = false }: LogFilters,
  tips: readonly number[],
  limit: number,
): Promise<Judge> {
  const parents = firstParent ? (node: number) => dag.parents(node).slice(0, 1) : dag.parents
  if (path !== undefined) {
    const reader = new PathReader(repo, dag, path, limit, {
      left: follow ? maxReads.following : maxReads.simplified,
    })
    return follow ? following(repo, dag, reader) : ofPath(reader, parents)
  }
  if (excluding.length === 0) return (node) => ({ shown: true, next: parents(node) })
  const excluded = excluding.map((oid) => dag.node(oid))
  const inside = await between(dag, tips, excluded)
  return (node) => (inside.has(node) ? { shown: true, next: dag.parents(node) } : { shown: false, next: [] })
}

/**
 * Git's simplified history: a commit that left the path as it is in some parent is not shown, and only that parent is
 * followed.
 */
function ofPath(reader: PathReader, parentsOf: (node: number) => readonly number[]): Judge {
  const compare = async (node: number, parents: readonly number[]): Promise<Step> => {
    for (const parent of parents) if (await reader.isSame(node, parent)) return { shown: false, next: [parent] }
    const shown = parents.length > 0 || (await reader.entry(node)) !== undefined
    return { shown, next: parents }
  }
  return (node) => {
    const parents = parentsOf(node)
    // The filters tell of the first parent.
    if (parents.length > 0 && !reader.maybeChanged(node)) return { shown: false, next: parents.slice(0, 1) }
    return compare(node, parents)
  }
}

/**
 * As `git log --follow`: all history is walked, merges are not shown, and a commit that made the file of another one
 * changes what is looked for from there on, whatever line of history comes next.
 */
function following(repo: Repository, dag: Dag, first: PathReader): Judge {
  let reader = first
  const compare = async (node: number, next: readonly number[]): Promise<Step> => {
    const [parent] = next
    if (parent !== undefined && (await reader.isSame(node, parent))) return { shown: false, next }
    const [before, after] = [parent === undefined ? undefined : await reader.entry(parent), await reader.entry(node)]
    // As git: a file that comes in place of a directory is not followed further.
    const isMade = before === undefined && after !== undefined && !isDirectory(after)
    if (isMade && parent !== undefined) {
      const old = await origin(repo, dag.oid(node), reader.path)
      // Words of a command line are text; such a name cannot be asked about again.
      if (old?.isWellFormed() === false) throw new LeaveToGit('a name that is no text')
      if (old !== undefined) reader = new PathReader(repo, dag, old, 1, reader.budget)
    }
    return { shown: after !== before, next }
  }
  return (node) => {
    const next = dag.parents(node)
    if (next.length > 1 || (next.length === 1 && !reader.maybeChanged(node))) return { shown: false, next }
    return compare(node, next)
  }
}

const isDirectory = (entry: string) => entry.startsWith('40000 ')
