import { readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { syncFolder } from '../../kernel/durable.ts'

/** File name, next to HEAD. Git does not read it as a ref, because a UUID is not an object id. */
const fileName = 'stithy-project'

/** `absent`: the path does not exist. `foreign`: the repository has another key, or none. */
export type Belonging = 'own' | 'absent' | 'foreign'

/** Cached keys, each with the identity of its file. */
const known = new LRUCache<string, { identity: string; key: string }>({ max: 20_000 })

/**
 * Whether the folder `gitDir` is the repository of the project with this key. Never stale: one `stat`, a few microseconds, and
 * one small read if the file is a new one.
 */
export function belongingOf(gitDir: string, key: string): Belonging {
  const found = readKey(gitDir)
  if (found === undefined) return statSync(gitDir, { throwIfNoEntry: false }) ? 'foreign' : 'absent'
  return found === key ? 'own' : 'foreign'
}

/** The key in a repository; undefined without one. */
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

/** Writes the key durably into a repository without one. */
export async function writeKey(gitDir: string, key: string): Promise<void> {
  {
    await using file = await open(join(gitDir, fileName), 'wx', 0o600)
    await file.writeFile(`${key}\n`)
    await file.sync()
  }
  await syncFolder(gitDir)
}
