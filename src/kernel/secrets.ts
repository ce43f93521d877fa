import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolderNow } from './durable.ts'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const version = 'v1'

/** Eight hex digits that distinguish keys and reveal nothing about them. */
const idOf = (key: Buffer): string => hash('sha256', key, 'hex').slice(0, 8)

/**
 * Encrypts at rest the secrets that must be read again and so cannot be digests: AES-256-GCM with a key outside the database.
 * An encrypted text is `v1:<key id>:<nonce, bytes, tag in base64url>`. It names its key, so that several can be in use. To
 * rotate: put a new key before the others, re-encrypt everything that `isStale`, then remove the old ones.
 */
export class Secrets {
  readonly #current: string
  readonly #keys: ReadonlyMap<string, Buffer>

  /** 32 bytes each. The first one encrypts; all decrypt. */
  constructor(keys: readonly Buffer[]) {
    if (keys.length === 0 || keys.some(({ length }) => length !== keyBytes))
      throw new Error(`secrets need keys of ${keyBytes} bytes each`)
    this.#current = idOf(keys[0]!)
    this.#keys = new Map(keys.map((key) => [idOf(key), key]))
  }

  /**
   * Encrypts. `purpose` names the kind and the owner of the secret; decryption fails with another purpose, so that rows cannot
   * be exchanged.
   */
  seal(text: string, purpose: string): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#keys.get(this.#current)!, nonce)
    cipher.setAAD(Buffer.from(purpose))
    const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${version}:${this.#current}:${bytes.toString('base64url')}`
  }

  /** Decrypts. Throws if the key is missing, or if the text was changed or encrypted for another purpose. */
  open(sealed: string, purpose: string): string {
    const [, id, base64] = /^v1:([0-9a-f]{8}):([\w-]+)$/.exec(sealed) ?? []
    if (id === undefined || base64 === undefined) throw new Error('not a sealed secret')
    const key = this.#keys.get(id)
    if (!key) throw new Error(`the key ${id} of a secret is missing`)
    const bytes = Buffer.from(base64, 'base64url')
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(purpose))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
  }

  /** Whether a key other than the current one encrypted it. */
  isStale(sealed: string): boolean {
    return !sealed.startsWith(`${version}:${this.#current}:`)
  }
}

/**
 * Reads the keys from the file, one per line in base64url, the current one first; creates the file with one key if it is missing.
 * Without the file the secrets are lost. All machines of an installation need the same file.
 */
export function openSecrets(file: string): Secrets {
  const lines = readOrMake(file).split('\n').filter(Boolean)
  return new Secrets(lines.map((line) => Buffer.from(line, 'base64url')))
}

function readOrMake(file: string): string {
  try {
    if ((statSync(file).mode & 0o077) !== 0) throw new Error(`${file} must be readable by its owner alone (chmod 600)`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  // Several processes may start at once: each writes a file, one of them gets the name, and all read that one.
  const mine = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(mine, `${randomBytes(keyBytes).toString('base64url')}\n`, { mode: 0o600, flush: true, flag: 'wx' })
  try {
    linkSync(mine, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(mine)
  }
  // The name must be durable before anything is encrypted.
  syncFolderNow(dirname(file))
  return readFileSync(file, 'utf8')
}
