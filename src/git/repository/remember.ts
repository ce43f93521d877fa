import type { Repository } from './repository.ts'
import { SharedWork } from './shared-work.ts'

/**
 * Memoizes `make` under `key` for this repository. Only for immutable facts: about objects, by object id. Does not cache
 * `undefined`, because the object may still arrive, nor results without a size, because they are too large. Concurrent callers
 * share one computation. `make` must use the repository it is given, whose signal ends its processes once all callers have
 * disconnected.
 */
export async function remember<Fact extends object | undefined>(
  repo: Repository,
  key: string,
  make: (repo: Repository) => Promise<Fact>,
  sizeBytes: (fact: NonNullable<Fact>) => number | undefined,
): Promise<Fact> {
  const { cache, making } = repo.git
  const name = repo.cacheKey + key
  const known = cache.get(name)
  if (known) return known as Fact
  const begun = making.get(name) as SharedWork<Fact> | undefined
  if (begun && !begun.isAbandoned) {
    const fact = await begun.wait(repo.signal)
    // The object may have arrived since the shared computation read the repository.
    return fact ?? make(repo)
  }
  const work = new SharedWork(async (signal) => {
    const fact = await make(repo.withSignal(signal))
    const size = fact === undefined ? undefined : sizeBytes(fact)
    if (fact !== undefined && size !== undefined) keep(repo, key, fact, size)
    return fact
  })
  making.set(name, work)
  void work.over.then(() => making.get(name) === work && making.delete(name))
  return work.wait(repo.signal)
}

/** Puts a known fact into the cache. */
export function keep(repo: Repository, key: string, fact: object, sizeBytes: number): void {
  const name = repo.cacheKey + key
  repo.git.cache.set(name, fact, { size: Math.ceil(sizeBytes) + name.length + 100 })
}

/** The cached fact of `key`; undefined if not cached. */
export const recall = <Fact extends object>(repo: Repository, key: string): Fact | undefined =>
  repo.git.cache.get(repo.cacheKey + key) as Fact | undefined
