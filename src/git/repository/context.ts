import type { LRUCache } from 'lru-cache'
import type { CachedGraph } from '../commit-graph/commit-graph.ts'
import type { Runner } from '../runner/client.ts'
import type { HelperPool } from '../runner/helper-pool.ts'
import type { RunningPushes } from '../runner/running-pushes.ts'
import type { Timeouts } from '../runner/timeouts.ts'
import type { FetchSharing } from '../sharing/fetch-sharing.ts'
import type { SharedWork } from './shared-work.ts'

/** Cache of immutable facts about objects: an entry is never stale, only evicted. */
export type Cache = LRUCache<string, object>

/** State that the repositories of one server process share; provided by `Git`. */
export type GitContext = {
  readonly runner: Runner
  readonly helpers: HelperPool
  /** The current timeouts. */
  timeouts(): Timeouts
  readonly cache: Cache
  /** Computations in flight, by their cache key. */
  readonly inFlight: Map<string, SharedWork<object | undefined>>
  /** Commit-graphs by repository directory. */
  readonly graphs: LRUCache<string, CachedGraph>
  /** Responses that equal fetches share, if enabled. */
  readonly sharing: FetchSharing | undefined
  /** Pushes in progress, which a stop ends gently. */
  readonly pushes: RunningPushes
  /** An empty repository that replaces missing ones, so that git itself answers every read. */
  emptyDir(): Promise<string>
}
