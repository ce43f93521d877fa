import { type BigIntStats, closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { syncFolder } from '../../kernel/durable.ts'
import { isMissing } from '../../kernel/missing.ts'

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
  let found = readKey(gitDir)
  if (found === undefined) {
    if (!statSync(gitDir, { throwIfNoEntry: false })) return 'absent'
    // The folder may have come to its place, with its key, after the first look.
    found = readKey(gitDir)
  }
  return found === key ? 'own' : 'foreign'
}

/** The key in a repository; undefined without one. */
export function readKey(gitDir: string): string | undefined {
  const path = join(gitDir, fileName)
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (!facts) return undefined
  const before = known.get(gitDir)
  return before?.identity === identityOf(facts) ? before.key : readAgain(gitDir, path)
}

const identityOf = ({ dev, ino, ctimeNs }: BigIntStats): string => `${dev} ${ino} ${ctimeNs}`

function readAgain(gitDir: string, path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    // Moved away since it was found.
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    // Identity and key are those of one file, even if another one takes its place.
    const identity = identityOf(fstatSync(file, { bigint: true }))
    const key = readFileSync(file, 'utf8').trim()
    known.set(gitDir, { identity, key })
    return key
  } finally {
    closeSync(file)
  }
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
