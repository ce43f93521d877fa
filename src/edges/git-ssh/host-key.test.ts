import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { ensureHostKeys } from './host-key.ts'
import { newKeyPair } from './key-pair.ts'

const folder = () => mkdtemp(join(tmpdir(), 'stithy-host-key-'))

test('every new key pair can be parsed, those whose public key begins with a zero too', () => {
  for (let n = 0; n < 2000; n++) {
    const { private: secret, public: shown } = newKeyPair()
    expect(ssh2.utils.parseKey(secret)).not.toBeInstanceOf(Error)
    expect(ssh2.utils.parseKey(shown)).not.toBeInstanceOf(Error)
  }
})

test('the host keys are created once and reused', async () => {
  const dataDir = await folder()
  const keys = ensureHostKeys(dataDir)
  expect(ensureHostKeys(dataDir)).toEqual(keys)
  const stored = ['host_ed25519', 'host_ecdsa'].map((name) => readFile(join(dataDir, 'ssh', name), 'utf8'))
  expect(await Promise.all(stored)).toEqual(keys)
})

test('an installation with the ed25519 host key alone gets no second one, which clients do not know', async () => {
  const dataDir = await folder()
  const key = newKeyPair().private
  await mkdir(join(dataDir, 'ssh'))
  await writeFile(join(dataDir, 'ssh', 'host_ed25519'), key)
  expect(ensureHostKeys(dataDir)).toEqual([key])
  expect(await readdir(join(dataDir, 'ssh'))).toEqual(['host_ed25519'])
})

test('an unreadable host key file is reported and not changed', async () => {
  const dataDir = await folder()
  const path = join(dataDir, 'ssh', 'host_ed25519')
  await mkdir(join(dataDir, 'ssh'))
  await writeFile(path, 'nonsense')
  expect(() => ensureHostKeys(dataDir)).toThrow(
    `${path} holds no private key for SSH (Unsupported key format): bring the right one back, or remove it to get a new one.`,
  )
  expect(await readFile(path, 'utf8')).toBe('nonsense')
})
