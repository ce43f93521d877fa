import type { Repository } from './repository.ts'
import { SharedWork } from './shared-work.ts'

/**
 * What `make` found out, remembered under `key` within this repository. Only for what can never change: facts of
 * objects, named by object id. `undefined` is not remembered: the object may still arrive; nor is what has no size, because it is
 * too large.
 *
 * Who asks while it is being made waits for the same. `make` must work with the repository that it is given, which ends
 * its processes when the last of those who wait has left.
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
    const fact = await begun.wait(repo.gone)
    // The object may have arrived after the other one looked.
    return fact ?? make(repo)
  }
  const work = new SharedWork(async (gone) => {
    const fact = await make(repo.until(gone))
    const size = fact === undefined ? undefined : sizeBytes(fact)
    if (fact !== undefined && size !== undefined) keep(repo, key, fact, size)
    return fact
  })
  making.set(name, work)
  void work.over.then(() => making.get(name) === work && making.delete(name))
  return work.wait(repo.gone)
}

/** Remembers what is known already. */
export function keep(repo: Repository, key: string, fact: object, sizeBytes: number): void {
  const name = repo.cacheKey + key
  repo.git.cache.set(name, fact, { size: Math.ceil(sizeBytes) + name.length + 100 })
}

/** What is remembered under `key`, if it still is. */
export const recall = <Fact extends object>(repo: Repository, key: string): Fact | undefined =>
  repo.git.cache.get(repo.cacheKey + key) as Fact | undefined
