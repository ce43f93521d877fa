import type { Repository } from './repository.ts'

/**
 * What `make` found out, remembered under `key` within this repository. Only for what can never change: facts of
 * objects, named by object id. `undefined` is not remembered: the object may still arrive.
 */
export async function remember<Fact extends object | undefined>(
  repo: Repository,
  key: string,
  make: () => Promise<Fact>,
  sizeBytes: (fact: NonNullable<Fact>) => number,
): Promise<Fact> {
  const { cache } = repo.git
  const name = repo.cacheKey + key
  const known = cache.get(name)
  if (known) return known as Fact
  const fact = await make()
  if (fact !== undefined) cache.set(name, fact, { size: Math.ceil(sizeBytes(fact)) + name.length + 100 })
  return fact
}

/** What is remembered under `key`, if it still is. */
export const recall = <Fact extends object>(repo: Repository, key: string): Fact | undefined =>
  repo.git.cache.get(repo.cacheKey + key) as Fact | undefined
