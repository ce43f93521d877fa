import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { syncFolderNow } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { isMissing } from '../../kernel/missing.ts'
import { newKeyPair } from './key-pair.ts'

/**
 * The private host keys by which clients recognize this installation: `host_ed25519` and `host_ecdsa` in `<data dir>/ssh`, in OpenSSH's
 * format, readable only by their owner. Created if the first is missing; concurrent calls get the same keys. The second one is for clients without
 * ed25519, such as JSch and OpenSSH in FIPS mode. It is not added to the first: some clients would prefer it to the one they know, and refuse
 * it. Throws a readable error if a file contains something else.
 */
export function ensureHostKeys(dataDir: string): string[] {
  const folder = join(dataDir, 'ssh')
  const first = join(folder, 'host_ed25519')
  const second = join(folder, 'host_ecdsa')
  if (readKey(first) === undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    create(second, 'ecdsa')
    create(first, 'ed25519')
    // Clients will remember these keys, so their names must survive a power loss.
    for (const changed of [folder, dataDir]) syncFolderNow(changed)
  }
  return [first, second].flatMap((path) => {
    const key = readKey(path)
    return key === undefined ? [] : [checked(key, path)]
  })
}

/** Creates a key, unless another process was first. Never exposes a half-written file. */
function create(path: string, type: 'ed25519' | 'ecdsa'): void {
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, newKeyPair(type).private, { mode: 0o600, flush: true })
  try {
    linkSync(unfinished, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function checked(key: string, path: string): string {
  const parsed = ssh2.utils.parseKey(key)
  if (!(parsed instanceof Error)) return key
  throw new Failure(
    'unavailable',
    `${path} holds no private key for SSH (${parsed.message}): bring the right one back, or remove it to get a new one.`,
  )
}

function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
