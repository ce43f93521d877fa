import type { Dag } from './dag.ts'
import { StableQueue } from './stable-queue.ts'

/** Visits commits by committer time, newest first, as git does; each one once. */
export class Walk {
  readonly #dag: Dag
  readonly #seen: Uint8Array
  readonly #queue = new StableQueue()

  constructor(dag: Dag, tips: readonly number[]) {
    this.#dag = dag
    this.#seen = new Uint8Array(dag.size)
    for (const tip of tips) this.add(tip)
  }

  add(node: number): void {
    if (this.#seen[node]) return
    this.#seen[node] = 1
    this.#queue.push(node, this.#dag.seconds(node))
  }

  next(): number | undefined {
    return this.#queue.pop()
  }
}
