import type { LRUCache } from 'lru-cache'
import type { KeptGraph } from '../commit-graph/commit-graph.ts'
import type { Runner } from '../runner/client.ts'
import type { HelperPool } from '../runner/helper-pool.ts'
import type { Patience } from '../runner/patience.ts'
import type { SharedWork } from './shared-work.ts'

/** What is remembered about objects; immutable, so it is never wrong, only forgotten. */
export type Cache = LRUCache<string, object>

/** What the repositories of one server process share: `Git` provides it. */
export type GitContext = {
  readonly runner: Runner
  readonly helpers: HelperPool
  /** As it is now. */
  patience(): Patience
  readonly cache: Cache
  /** What is being found out, by the key under which it will be remembered. */
  readonly making: Map<string, SharedWork<object | undefined>>
  /** Commit-graphs by the directory of their repository. */
  readonly graphs: LRUCache<string, KeptGraph>
  /** An empty repository that stands in for those that do not exist, so that every read has git's own answer for them. */
  emptyDir(): Promise<string>
}
