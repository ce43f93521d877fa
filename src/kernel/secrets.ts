import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolderNow } from './durable.ts'
import { Failure } from './failure.ts'
import { isMissing } from './missing.ts'
import { writePrivateFile } from './private-file.ts'
import { giveToFolderOwner } from './same-owner.ts'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const version = 'v1'

/** Eight hex digits that distinguish keys and reveal nothing about them. */
const idOf = (key: Buffer): string => hash('sha256', key, 'hex').slice(0, 8)

/**
 * Encrypts at rest the secrets that must be read again and so cannot be digests: AES-256-GCM with a key outside the database.
 * An encrypted text is `v1:<key id>:<nonce, bytes, tag in base64url>`. It names its key, so that several can be in use.
 * `beginRotation` and `endRotation` replace the key.
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

  /** Whether a stored secret is this text. False if it cannot be decrypted, as after the loss of its key. */
  matches(sealed: string | null, purpose: string, text: string): boolean {
    try {
      return sealed !== null && this.open(sealed, purpose) === text
    } catch {
      return false
    }
  }

  /** The secret encrypted by the current key; the same text if that key encrypted it. Throws as `open` does. */
  reseal(sealed: string, purpose: string): string {
    if (sealed.startsWith(`${version}:${this.#current}:`)) return sealed
    return this.seal(this.open(sealed, purpose), purpose)
  }

  /** Whether it decrypts what the key with this id has encrypted. */
  hasKey(id: string): boolean {
    return this.#keys.has(id)
  }

  /** How the texts begin that keys other than the current one encrypted. */
  get stalePrefixes(): string[] {
    return [...this.#keys.keys()].filter((id) => id !== this.#current).map((id) => `${version}:${id}:`)
  }
}

/**
 * Reads the keys from the file, one per line in base64url, the current one first; creates the file with one key if it is missing.
 * Without the file the secrets are lost. All machines of an installation need the same file.
 */
export const openSecrets = (file: string): Secrets => secretsOf(keysIn(file))

/**
 * Puts a new key before the others in the file, durably, and returns the secrets with all keys. If the file has several keys, an
 * earlier rotation was interrupted, and its new key is used. No other process may use the file.
 */
export function beginRotation(file: string): Secrets {
  const held = keysIn(file)
  if (held.length > 1) return secretsOf(held)
  const keys = [newKey(), ...held]
  writeKeys(file, keys)
  return secretsOf(keys)
}

/** Removes all keys but the current one from the file. Only for when nothing is encrypted by the others. */
export const endRotation = (file: string): void => writeKeys(file, keysIn(file).slice(0, 1))

function keysIn(file: string): string[] {
  const keys = readOrMake(file).split('\n').filter(Boolean)
  if (keys.length === 0 || keys.some((key) => Buffer.from(key, 'base64url').length !== keyBytes))
    throw new Failure('unavailable', `${file} is damaged: restore the one that belongs to the database.`)
  return keys
}

const secretsOf = (keys: readonly string[]): Secrets => new Secrets(keys.map((key) => Buffer.from(key, 'base64url')))

const newKey = (): string => randomBytes(keyBytes).toString('base64url')

const writeKeys = (file: string, keys: readonly string[]): void =>
  writePrivateFile(file, keys.map((key) => `${key}\n`).join(''))

function readOrMake(file: string): string {
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw new Failure('unavailable', `${file} must be readable by its owner alone (chmod 600)`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  // Several processes may start at once: each writes a file, one of them gets the name, and all read that one.
  const mine = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(mine, `${newKey()}\n`, { mode: 0o600, flush: true, flag: 'wx' })
  giveToFolderOwner(mine)
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
