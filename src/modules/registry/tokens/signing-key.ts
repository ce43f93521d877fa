import { createPrivateKey, createPublicKey, generateKeyPair, hash, type KeyObject } from 'node:crypto'
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises'
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

type Known = { readonly file: string | undefined; readonly key: Promise<SigningKey> }
const known = new Map<string, Known>()

/**
 * The key in `<folder>/token-key.pem` that signs the tokens of the registry. Created if missing; all processes use the one that is there now,
 * also after an operator has removed or replaced it.
 */
export async function signingKeyIn(folder: string): Promise<SigningKey> {
  const file = await identityOf(pathIn(folder))
  const before = known.get(folder)
  if (before && before.file === file) return before.key
  const now: Known = { file, key: load(folder) }
  known.set(folder, now)
  const forget = () => {
    if (known.get(folder) === now) known.delete(folder)
  }
  // One that was created is read again, under the identity of its file.
  now.key.then(file === undefined ? forget : undefined, forget)
  return now.key
}

const pathIn = (folder: string): string => join(folder, 'token-key.pem')

/** Differs for each file that was ever at this path; undefined if there is none. */
const identityOf = (path: string): Promise<string | undefined> =>
  stat(path, { bigint: true })
    .then(({ ino, mtimeNs, size }) => `${ino} ${mtimeNs} ${size}`)
    .catch(missingAs(undefined))

async function load(folder: string): Promise<SigningKey> {
  const path = pathIn(folder)
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
