import { readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { syncFolder } from '../../kernel/durable.ts'

/** Beside HEAD. Git reads it as no ref: a UUID is no object id. */
const fileName = 'stithy-project'

/** `absent`: nothing is there. `foreign`: what is there carries another key, or none. */
export type Belonging = 'own' | 'absent' | 'foreign'

/** The keys that were read, each with the identity of its file at that time. */
const known = new LRUCache<string, { identity: string; key: string }>({ max: 20_000 })

/**
 * Whether the folder `gitDir` is the repository of the project with this key. Exact at the moment of asking: one `stat`, a few
 * microseconds, and one small read when the file is not the one that was read before.
 */
export function belongingOf(gitDir: string, key: string): Belonging {
  const found = readKey(gitDir)
  if (found === undefined) return statSync(gitDir, { throwIfNoEntry: false }) ? 'foreign' : 'absent'
  return found === key ? 'own' : 'foreign'
}

/** The key that a repository carries; undefined without one. */
export function readKey(gitDir: string): string | undefined {
  const path = join(gitDir, fileName)
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (!facts) return undefined
  const identity = `${facts.dev} ${facts.ino} ${facts.ctimeNs}`
  const before = known.get(gitDir)
  if (before?.identity === identity) return before.key
  const key = readFileSync(path, 'utf8').trim()
  known.set(gitDir, { identity, key })
  return key
}

/** Writes the key durably into a repository that has none. */
export async function writeKey(gitDir: string, key: string): Promise<void> {
  {
    await using file = await open(join(gitDir, fileName), 'wx', 0o600)
    await file.writeFile(`${key}\n`)
    await file.sync()
  }
  await syncFolder(gitDir)
}
