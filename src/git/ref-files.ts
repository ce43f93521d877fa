import { existsSync, readFileSync, statSync } from 'node:fs'
import { type Oid, parseOid } from './oid.ts'
import type { RefName } from './ref-name.ts'
import type { Repository } from './repository.ts'

/** Read as git reads them: a ref's own file first, then the list of packed ones, each replaced as a whole by a rename. */

/** A longer list is left to git, rather than kept in memory. */
const maxPackedBytes = 4 * 1024 * 1024

/**
 * Where a ref points right now, an annotated tag not followed; `undefined` when there is none, `'ask'` when only git can
 * tell (a symbolic ref, a very long list). A look at one or two small files: no process, no round trip.
 */
export function readRefFile(repo: Repository, name: RefName): Oid | 'ask' | undefined {
  const path = `${repo.gitDir}/${name}`
  // Looking first costs less than an error for what is mostly not there.
  const text = existsSync(path) ? readOrNothing(path) : undefined
  if (text !== undefined) return parseOid(text.trim()) ?? 'ask'
  const packed = packedRefs(repo)
  return packed === 'ask' ? 'ask' : packed?.get(name)
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // Packed or deleted this moment; or the folder of refs whose names begin so.
    if (['ENOENT', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Kept for as long as the file is the same one: git never writes into it. */
function packedRefs(repo: Repository): ReadonlyMap<string, Oid> | 'ask' | undefined {
  const path = `${repo.gitDir}/packed-refs`
  const facts = statSync(path, { throwIfNoEntry: false })
  if (!facts) return undefined
  if (facts.size > maxPackedBytes) return 'ask'
  const { cache } = repo.git
  const key = `${repo.cacheKey}packed-refs ${facts.ino} ${facts.mtimeMs} ${facts.size}`
  const known = cache.get(key) as ReadonlyMap<string, Oid> | undefined
  if (known) return known
  const text = readOrNothing(path)
  if (text === undefined) return undefined
  const refs = parsePackedRefs(text)
  cache.set(key, refs, { size: text.length * 3 + 200 })
  return refs
}

/** Lines of `<oid> <name>`; those with `^` tell what the tag before them stands for, those with `#` are about the file. */
function parsePackedRefs(text: string): Map<string, Oid> {
  const refs = new Map<string, Oid>()
  for (const line of text.split('\n')) {
    const oid = parseOid(line.slice(0, 40))
    if (oid && line[40] === ' ') refs.set(line.slice(41), oid)
  }
  return refs
}
