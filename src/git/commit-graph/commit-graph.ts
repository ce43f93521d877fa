import { LRUCache } from 'lru-cache'
import type { Oid } from '../format/oid.ts'
import type { ChangedPaths } from './changed-paths.ts'
import { BrokenGraph, type GraphLayer } from './graph-layer.ts'

/** The commits that git's commit-graph files describe, one layer on top of another, by their position. */
export class CommitGraph {
  readonly layers: readonly GraphLayer[]
  readonly count: number
  /** Commits in the order of a walk, by what it begins with: the next walk is the same. */
  readonly orders = new LRUCache<string, Uint32Array>({ max: 4 })
  readonly #correctedDates: boolean

  /** `layers` build on one another, lowest first; there may be none. */
  constructor(layers: readonly GraphLayer[]) {
    this.layers = layers
    this.count = layers.reduce((sum, { count }) => sum + count, 0)
    // Git compares generations of all layers, so all have to mean the same.
    this.#correctedDates = layers.every(({ hasCorrectedDates }) => hasCorrectedDates)
  }

  get sizeBytes(): number {
    return this.layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  /** Whether generations are corrected dates; otherwise they are levels. */
  get hasCorrectedDates(): boolean {
    return this.#correctedDates
  }

  find(oid: Oid): number | undefined {
    if (this.count === 0 || oid.length !== 40) return undefined
    const bytes = Buffer.from(oid, 'hex')
    // New ones are looked for most.
    for (let index = this.layers.length - 1; index >= 0; index--) {
      const layer = this.layers[index]!
      const at = layer.find(bytes)
      if (at >= 0) return layer.base + at
    }
    return undefined
  }

  oid(position: number): Oid {
    const layer = this.#layerOf(position)
    return layer.oid(position - layer.base)
  }

  tree(position: number): Oid {
    const layer = this.#layerOf(position)
    return layer.tree(position - layer.base)
  }

  seconds(position: number): number {
    const layer = this.#layerOf(position)
    return layer.seconds(position - layer.base)
  }

  parents(position: number): number[] {
    const layer = this.#layerOf(position)
    return layer.parents(position - layer.base)
  }

  /** -1 for a commit without parents. */
  firstParent(position: number): number {
    const layer = this.#layerOf(position)
    return layer.firstParent(position - layer.base)
  }

  isMerge(position: number): boolean {
    const layer = this.#layerOf(position)
    return layer.isMerge(position - layer.base)
  }

  /** Higher than that of every parent. */
  generation(position: number): number {
    const layer = this.#layerOf(position)
    if (this.#correctedDates) return layer.correctedSeconds(position - layer.base)
    const level = layer.level(position - layer.base)
    if (level === 0) throw new BrokenGraph('written before there were generations')
    return level
  }

  maybeChanged(position: number, paths: ChangedPaths): boolean {
    const layer = this.#layerOf(position)
    return layer.maybeChanged(position - layer.base, paths)
  }

  /** Nearly all commits are in the lowest layers, of which there are few. */
  #layerOf(position: number): GraphLayer {
    for (const layer of this.layers) if (position < layer.base + layer.count) return layer
    throw new BrokenGraph('a position is out of range')
  }
}

/** Kept for as long as the file that names its layers is the same one: git never writes into it. */
export type KeptGraph = {
  readonly file: string
  /** `'git'`: there is one that is too large or strange for us. */
  readonly graph: CommitGraph | 'git'
  /** Layers by the id that the chain knows them by. */
  readonly layers: ReadonlyMap<string, GraphLayer>
}
