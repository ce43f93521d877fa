import { LRUCache } from 'lru-cache'
import { type Oid, oidLength } from '../format/oid.ts'
import type { ChangedPaths } from './changed-paths.ts'
import { BrokenGraph, type GraphLayer } from './graph-layer.ts'

/** Enough for the branches of a repository of some ten thousand commits; two for the largest. */
const maxOrderBytes = 4 * 1024 * 1024

/** The commits in git's commit-graph files, a chain of layers, numbered by position. */
export class CommitGraph {
  readonly layers: readonly GraphLayer[]
  readonly count: number
  /** Commits in traversal order, by the tips of the traversal. */
  readonly orders = new LRUCache<string, Uint32Array>({
    maxSize: maxOrderBytes,
    sizeCalculation: ({ byteLength }) => byteLength + 100,
  })
  readonly #correctedDates: boolean

  /** `layers` build on one another, lowest first; may be empty. */
  constructor(layers: readonly GraphLayer[]) {
    this.layers = layers
    this.count = layers.reduce((sum, { count }) => sum + count, 0)
    // Git compares generations across layers, so all layers must use the same kind.
    this.#correctedDates = layers.every(({ hasCorrectedDates }) => hasCorrectedDates)
  }

  get sizeBytes(): number {
    return this.layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  /** Whether generations are corrected commit dates; otherwise they are topological levels. */
  get hasCorrectedDates(): boolean {
    return this.#correctedDates
  }

  find(oid: Oid): number | undefined {
    if (this.count === 0 || oid.length !== oidLength) return undefined
    const bytes = Buffer.from(oid, 'hex')
    // Most lookups are for recent commits.
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

  /** Higher than the generation of every parent. */
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

  /** Linear search: there are few layers, and nearly all commits are in the lowest ones. */
  #layerOf(position: number): GraphLayer {
    for (const layer of this.layers) if (position < layer.base + layer.count) return layer
    throw new BrokenGraph('a position is out of range')
  }
}

/**
 * A cached graph, valid while the file that lists its layers is the same one: git replaces that file and never writes into it.
 */
export type CachedGraph = {
  readonly file: string
  /** `'git'`: the file exists but is too large or of an unknown kind; git has to read it. */
  readonly graph: CommitGraph | 'git'
  /** Layers by their id in the chain file. */
  readonly layers: ReadonlyMap<string, GraphLayer>
}
