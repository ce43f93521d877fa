import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { syncFolderNow } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { isMissing } from '../../kernel/missing.ts'
import { newKeyPair } from './key-pair.ts'

/**
 * The private host key by which clients recognize this installation: `<data dir>/ssh/host_ed25519` in OpenSSH's format,
 * readable only by its owner. Created if missing; concurrent calls get the same key. Throws a readable error if the file
 * contains something else.
 */
export function ensureHostKey(dataDir: string): string {
  const folder = join(dataDir, 'ssh')
  const path = join(folder, 'host_ed25519')
  const known = readKey(path)
  if (known !== undefined) return checked(known, path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, newKeyPair().private, { mode: 0o600, flush: true })
  try {
    // Fails if another process was first. Never exposes a half-written file.
    linkSync(unfinished, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
  // Clients will remember this key, so its name must survive a power loss.
  for (const changed of [folder, dataDir]) syncFolderNow(changed)
  return readFileSync(path, 'utf8')
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
