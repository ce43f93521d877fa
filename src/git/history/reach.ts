import { BrokenGraph } from '../commit-graph/graph-layer.ts'
import { type Dag, isTurnOver, LeaveToGit, nextTurn } from './dag.ts'
import { StableQueue } from './stable-queue.ts'

/** The targets that `from` is or has in its history. Stops at commits older than the oldest target. */
export async function reachable(dag: Dag, from: number, targets: Iterable<number>): Promise<ReadonlySet<number>> {
  const wanted = new Set(targets)
  const oldest = [...wanted].reduce((least, node) => Math.min(least, dag.generation(node)), Number.POSITIVE_INFINITY)
  const found = new Set<number>()
  const seen = new Uint8Array(dag.size)
  const open: number[] = []
  const see = (node: number) => {
    if (seen[node] || dag.generation(node) < oldest) return
    seen[node] = 1
    if (wanted.has(node)) found.add(node)
    open.push(node)
  }
  see(from)
  for (let steps = 1; open.length > 0 && found.size < wanted.size; steps++) {
    // Follows the first parent last: its line is the longest, and merged commits are usually near.
    for (const parent of dag.parents(open.pop()!)) see(parent)
    if (isTurnOver(steps)) await nextTurn(dag)
  }
  return found
}

/** Maximum commits to sort, because sorting blocks the event loop. */
const maxSorted = 50_000

/** The tips that are `target` or have it in their history. */
export async function reaching(dag: Dag, target: number, tips: Iterable<number>): Promise<ReadonlySet<number>> {
  const oldest = dag.generation(target)
  const seen = new Uint8Array(dag.size)
  const younger: number[] = []
  const see = (node: number) => {
    if (seen[node] || dag.generation(node) <= oldest) return
    seen[node] = 1
    younger.push(node)
  }
  for (const tip of tips) see(tip)
  for (let index = 0; index < younger.length; index++) {
    for (const parent of dag.parents(younger[index]!)) see(parent)
    if (younger.length > maxSorted) throw new LeaveToGit('too much history')
    if (isTurnOver(index + 1)) await nextTurn(dag)
  }
  // Parents first.
  const generations = new Map(younger.map((node) => [node, dag.generation(node)]))
  younger.sort((one, other) => generations.get(one)! - generations.get(other)!)
  const found = new Set([target])
  for (const node of younger) if (dag.parents(node).some((parent) => found.has(parent))) found.add(node)
  return found
}

/**
 * Propagates flags from commits to their ancestors, highest generation first, so that a node has all its flags when it is
 * visited. Ends when no queued node is live.
 */
class Painting {
  readonly #dag: Dag
  readonly #flags: Uint8Array
  readonly #isLive: (flags: number) => boolean
  readonly #queue = new StableQueue()
  #live = 0

  constructor(dag: Dag, isLive: (flags: number) => boolean) {
    this.#dag = dag
    this.#flags = new Uint8Array(dag.size)
    this.#isLive = isLive
  }

  add(node: number, flags: number): void {
    const before = this.#flags[node]!
    const after = before | flags
    if (after === before) return
    this.#flags[node] = after
    if (before === 0) this.#queue.push(node, this.#dag.generation(node))
    const wasLive = before !== 0 && this.#isLive(before)
    this.#live += Number(this.#isLive(after)) - Number(wasLive)
  }

  /** `paint` returns the flags that a node passes to its parents. */
  async run(paint: (node: number, flags: number) => number): Promise<void> {
    for (let steps = 1; this.#live > 0; steps++) {
      const node = this.#queue.pop()!
      const flags = this.#flags[node]!
      if (this.#isLive(flags)) this.#live--
      const given = paint(node, flags)
      const generation = this.#dag.generation(node)
      for (const parent of this.#dag.parents(node)) {
        if (this.#dag.generation(parent) >= generation) throw new BrokenGraph('a parent is younger than its child')
        this.add(parent, given)
      }
      if (isTurnOver(steps)) await nextTurn(this.#dag)
    }
  }
}

/** All best common ancestors of `one` and a hypothetical merge of `others`, in no particular order. */
export async function commonAncestors(dag: Dag, one: number, others: readonly number[]): Promise<number[]> {
  const [left, right, stale] = [1, 2, 4]
  const both = left | right
  const found: number[] = []
  const painting = new Painting(dag, (flags) => (flags & stale) === 0)
  painting.add(one, left)
  for (const other of others) painting.add(other, right)
  await painting.run((node, flags) => {
    if ((flags & both) !== both) return flags
    if ((flags & stale) === 0) found.push(node)
    return flags | stale
  })
  return found
}

/** The commits in the histories of `from` and not in those of `excluding`. */
export async function between(
  dag: Dag,
  from: readonly number[],
  excluding: readonly number[],
): Promise<ReadonlySet<number>> {
  const [wanted, unwanted] = [1, 2]
  const found = new Set<number>()
  const painting = new Painting(dag, (flags) => (flags & unwanted) === 0)
  for (const node of from) painting.add(node, wanted)
  for (const node of excluding) painting.add(node, unwanted)
  await painting.run((node, flags) => {
    if ((flags & unwanted) !== 0) return unwanted
    found.add(node)
    return wanted
  })
  return found
}
