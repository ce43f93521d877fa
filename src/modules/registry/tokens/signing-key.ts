import { createPrivateKey, createPublicKey, generateKeyPair, hash, type KeyObject } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder, syncFolder } from '../../../kernel/durable.ts'
import { Failure } from '../../../kernel/failure.ts'
import { missingAs } from '../../../kernel/missing.ts'

export type SigningKey = {
  readonly private: KeyObject
  readonly public: KeyObject
  /** Fingerprint of the public key, in the form that registries use. */
  readonly id: string
}

const known = new Map<string, Promise<SigningKey>>()

/** The key in `<folder>/token-key.pem` that signs the tokens of the registry. Created if missing; all processes get the same. */
export function signingKeyIn(folder: string): Promise<SigningKey> {
  let key = known.get(folder)
  if (!key) {
    key = load(folder)
    key.catch(() => known.delete(folder))
    known.set(folder, key)
  }
  return key
}

async function load(folder: string): Promise<SigningKey> {
  const path = join(folder, 'token-key.pem')
  const pem = (await read(path)) ?? (await create(folder, path))
  try {
    const privateKey = createPrivateKey(pem)
    if (privateKey.asymmetricKeyType !== 'rsa') throw new Error(`the key is of type ${privateKey.asymmetricKeyType}`)
    const publicKey = createPublicKey(privateKey)
    return { private: privateKey, public: publicKey, id: fingerprint(publicKey) }
  } catch (cause) {
    throw new Failure(
      'unavailable',
      `${path} holds no private RSA key (${(cause as Error).message}): bring the right one back, or remove it to get a new one.`,
    )
  }
}

async function create(folder: string, path: string): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await makeFolder(folder, 0o700)
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, privateKey, { mode: 0o600, flush: true })
  try {
    // Fails if another process was first. Never exposes a half-written file.
    await link(unfinished, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(unfinished, { force: true })
  }
  await syncFolder(folder)
  return readFile(path, 'utf8')
}

const read = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(missingAs(undefined))

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The first 240 bits of the SHA-256 of the public key, in base 32, in groups of four: the fingerprint of libtrust. */
function fingerprint(key: KeyObject): string {
  const digest = hash('sha256', key.export({ type: 'spki', format: 'der' }), 'buffer').subarray(0, 30)
  let bits = ''
  for (const byte of digest) bits += byte.toString(2).padStart(8, '0')
  const text = bits.replace(/.{5}/g, (five) => base32[Number.parseInt(five, 2)]!)
  return text.match(/.{4}/g)!.join(':')
}
