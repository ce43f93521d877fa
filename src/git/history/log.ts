import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { type Dag, isTurnOver, LeaveToGit, nextTurn } from './dag.ts'
import { followFile } from './follow.ts'
import { maxAhead, maxReads, PathReader } from './path-reader.ts'
import { between } from './reach.ts'
import { Walk } from './walk.ts'

export type LogFilters = {
  readonly from: readonly Oid[]
  readonly excluding?: readonly Oid[]
  readonly path?: string
  readonly follow?: boolean
  /** Seconds since 1970, inclusive. */
  readonly since?: number
  readonly until?: number
  readonly firstParent?: boolean
}

/** Whether a commit is listed, and at which parents the traversal continues. */
type Step = { readonly shown: boolean; readonly next: readonly number[] }

type Judge = {
  /** True for commits that are certainly not listed and continue with their first parent: nearly all, if there is a path. */
  readonly isSkipped: (node: number) => boolean
  readonly judge: (node: number) => Step | Promise<Step>
}

/** The first `limit` commits that match, in the order of `git rev-list`, or of `git log --follow`. */
export async function log(repo: Repository, dag: Dag, filters: LogFilters, limit: number): Promise<number[]> {
  const { from, path, follow = false, since = 0, until = Number.POSITIVE_INFINITY } = filters
  const tips = from.map((oid) => dag.node(oid))
  if (path !== undefined && follow) return followFile(repo, dag, { tips, path, since, until }, limit)
  const { isSkipped, judge } = await judgeFor(repo, dag, filters, tips, limit)
  const found: number[] = []
  const walk = new Walk(dag, tips)
  let steps = 0
  for (let node = walk.next(); node !== undefined && found.length < limit; node = walk.next()) {
    if (isTurnOver(++steps)) await nextTurn(dag)
    const seconds = dag.seconds(node)
    // Like git: the traversal stops at commits that are too old, and only hides commits that are too new.
    if (seconds < since) continue
    if (isSkipped(node)) {
      walk.add(dag.firstParent(node))
      continue
    }
    const step = judge(node)
    const { shown, next } = step instanceof Promise ? await step : step
    for (const parent of next) walk.add(parent)
    if (shown && seconds <= until) found.push(node)
  }
  return found
}

async function judgeFor(
  repo: Repository,
  dag: Dag,
  { excluding = [], path, firstParent = false }: LogFilters,
  tips: readonly number[],
  limit: number,
): Promise<Judge> {
  const parents = firstParent ? (node: number) => dag.parents(node).slice(0, 1) : dag.parents
  if (path !== undefined) {
    const reader = new PathReader(repo, dag, path, { left: maxReads.simplified })
    if (limit > reader.budget.left) reader.askFilters()
    if (limit > reader.budget.left && (await hasMoreChanges(dag, reader, tips[0]!, reader.budget.left)))
      throw new LeaveToGit('too much to read')
    return ofPath(dag, reader, parents, limit)
  }
  const isSkipped = () => false
  if (excluding.length === 0) return { isSkipped, judge: (node) => ({ shown: true, next: parents(node) }) }
  const excluded = excluding.map((oid) => dag.node(oid))
  const inside = await between(dag, tips, excluded)
  return {
    isSkipped,
    judge: (node) => (inside.has(node) ? { shown: true, next: dag.parents(node) } : { shown: false, next: [] }),
  }
}

/**
 * Counts the listed commits between a tip and its ancestor `known`, to extend an earlier count. `undefined` if the history
 * branches before `known`, or does not contain it.
 */
export async function listedBefore(
  repo: Repository,
  dag: Dag,
  filters: LogFilters,
  known: Oid,
): Promise<number | undefined> {
  const target = dag.node(known)
  const tip = dag.node(filters.from[0]!)
  const { isSkipped, judge } = await judgeFor(repo, dag, filters, [tip], maxAhead)
  let count = 0
  let steps = 0
  for (let node = tip; node !== target; ) {
    if (dag.generation(node) <= dag.generation(target)) return undefined
    if (isTurnOver(++steps)) await nextTurn(dag)
    if (isSkipped(node)) {
      node = dag.firstParent(node)
      continue
    }
    const { shown, next } = await judge(node)
    if (next.length !== 1) return undefined
    if (shown) count++
    node = next[0]!
  }
  return count
}

/**
 * Git's history simplification: a commit with a parent in which the path is the same is not listed, and only that parent is
 * followed.
 */
function ofPath(dag: Dag, reader: PathReader, parentsOf: (node: number) => readonly number[], limit: number): Judge {
  let wanted = limit
  return {
    // The filters compare with the first parent.
    isSkipped: (node) => !reader.maybeChanged(node) && dag.firstParent(node) >= 0,
    async judge(node) {
      const parents = parentsOf(node)
      if ([node, ...parents].some((each) => !reader.isKnown(each)))
        reader.readAhead(changesAlong(dag, reader, node, Math.min(wanted, maxAhead)))
      for (const parent of parents) if (await reader.isSame(node, parent)) return { shown: false, next: [parent] }
      const shown = parents.length > 0 || (await reader.entry(node)) !== undefined
      if (shown) wanted--
      return { shown, next: parents }
    },
  }
}

/** Whether the path may have changed more than `times` times on the first-parent line of a commit. Reads only filters. */
export async function hasMoreChanges(dag: Dag, reader: PathReader, tip: number, times: number): Promise<boolean> {
  let changes = 0
  let steps = 0
  for (let node = tip; node >= 0 && changes <= times; node = dag.firstParent(node)) {
    if (reader.maybeChanged(node)) changes++
    if (isTurnOver(++steps)) await nextTurn(dag)
  }
  return changes > times
}

const maxStepsAhead = 10_000

/** The commits on the first-parent line from `node` that may have changed the path and whose trees are not yet read. */
export function changesAlong(dag: Dag, reader: PathReader, node: number, atMost: number): number[] {
  const found = [node]
  let next = dag.firstParent(node)
  for (let steps = 0; next >= 0 && found.length < atMost && steps < maxStepsAhead; steps++) {
    if (reader.maybeChanged(next)) {
      if (reader.isKnown(next) && next !== dag.firstParent(node)) break
      found.push(next)
    }
    next = dag.firstParent(next)
  }
  return found
}
