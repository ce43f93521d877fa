import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { Failure } from '../../kernel/failure.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/*
 * What is stored under a name:
 *
 *     4 bytes    "STB1"
 *     1 byte     1 compressed, 2 encrypted
 *     32 bytes   with a key: salt of this object; without: SHA-256 of what follows
 *     …          the content, compressed if that makes it smaller
 *     16 bytes   with a key: tag of AES-256-GCM, which also covers the name
 */
const magic = Buffer.from('STB1')
const headBytes = 4 + 1 + 32
const tagBytes = 16
const compressed = 1
const encrypted = 2

/** Content above this size is refused before it is decompressed. */
const maxPlainBytes = 256 * 1024 * 1024

/** A backup has other bytes than were written, or lacks some. */
export class BackupDamaged extends Failure {
  override name = 'BackupDamaged'

  constructor(what: string) {
    super('unprocessable', `The backup is damaged: ${what}.`)
  }
}

/** Names, compresses and encrypts what is stored. With a key, neither names nor content reveal anything but sizes. */
export class Seal {
  readonly #key: Buffer | undefined

  /** `key` is for this store only. */
  constructor(key: Buffer | undefined) {
    this.#key = key
  }

  /** The name of a content: equal contents have the same. */
  nameOf(content: Buffer): string {
    const digest = hash('sha256', content, 'buffer')
    return this.#key
      ? createHmac('sha256', this.#key).update('name').update(digest).digest('hex')
      : digest.toString('hex')
  }

  async close(name: string, content: Buffer): Promise<Buffer> {
    const small = await compress(content)
    const isSmaller = small.length < content.length
    const body = isSmaller ? small : content
    const flags = Buffer.from([(isSmaller ? compressed : 0) | (this.#key ? encrypted : 0)])
    if (!this.#key) return Buffer.concat([magic, flags, hash('sha256', body, 'buffer'), body])
    const salt = randomBytes(32)
    const head = Buffer.concat([magic, flags, salt])
    const cipher = createCipheriv('aes-256-gcm', this.#keyOf(salt), noIv).setAAD(
      Buffer.concat([head, Buffer.from(name)]),
    )
    return Buffer.concat([head, cipher.update(body), cipher.final(), cipher.getAuthTag()])
  }

  /** The content. Fails with `BackupDamaged` if a bit differs, or if it is the content of another name. */
  async open(name: string, bytes: Buffer): Promise<Buffer> {
    const damaged = () => new BackupDamaged(`${name} has other bytes than were written`)
    if (bytes.length < headBytes || !bytes.subarray(0, 4).equals(magic)) throw damaged()
    const flags = bytes[4]!
    if (flags > (compressed | encrypted) || (flags & encrypted) === (this.#key ? 0 : encrypted)) throw damaged()
    const body = this.#decrypt(name, bytes)
    if (body === undefined) throw damaged()
    if ((flags & compressed) === 0) return body
    return await decompress(body, { maxOutputLength: maxPlainBytes }).catch(() => {
      throw damaged()
    })
  }

  /** As `open`, of a content that has the name which `nameOf` gives it. */
  async openNamed(name: string, bytes: Buffer): Promise<Buffer> {
    const content = await this.open(name, bytes)
    if (this.nameOf(content) !== name) throw new BackupDamaged(`${name} has the content of another object`)
    return content
  }

  #decrypt(name: string, bytes: Buffer): Buffer | undefined {
    const head = bytes.subarray(0, headBytes)
    if (!this.#key) {
      const body = bytes.subarray(headBytes)
      return hash('sha256', body, 'buffer').equals(head.subarray(5)) ? body : undefined
    }
    const end = bytes.length - tagBytes
    if (end < headBytes) return undefined
    const decipher = createDecipheriv('aes-256-gcm', this.#keyOf(head.subarray(5)), noIv)
      .setAAD(Buffer.concat([head, Buffer.from(name)]))
      .setAuthTag(bytes.subarray(end))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(headBytes, end)), decipher.final()])
    } catch {
      return undefined
    }
  }

  /** Each object has a key of its own, so that no pair of key and initialisation vector is used twice. */
  #keyOf(salt: Buffer): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key!, salt, 'object', 32))
  }
}

const noIv = Buffer.alloc(12)

/** The key of a store, from the content of the key file. */
export const keyOfStore = (secret: Buffer, storeId: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, storeId, 'stithy backup', 32))

/** Proves that a key belongs to a store, and reveals nothing about the key. */
export const proofOf = (key: Buffer): string => createHmac('sha256', key).update('proof').digest('hex')
