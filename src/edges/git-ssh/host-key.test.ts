import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { ensureHostKey } from './host-key.ts'
import { newKeyPair } from './key-pair.ts'

const folder = () => mkdtemp(join(tmpdir(), 'stithy-host-key-'))

test('every new pair can be read again, the one in 256 included whose public key begins with a zero', () => {
  for (let n = 0; n < 2000; n++) {
    const { private: secret, public: shown } = newKeyPair()
    expect(ssh2.utils.parseKey(secret)).not.toBeInstanceOf(Error)
    expect(ssh2.utils.parseKey(shown)).not.toBeInstanceOf(Error)
  }
})

test('the key is made once, and is the same for all who ask', async () => {
  const dataDir = await folder()
  const first = ensureHostKey(dataDir)
  expect(ensureHostKey(dataDir)).toBe(first)
  expect(await readFile(join(dataDir, 'ssh', 'host_ed25519'), 'utf8')).toBe(first)
})

test('a file that holds no key of ours is named, and left as it is', async () => {
  const dataDir = await folder()
  const path = join(dataDir, 'ssh', 'host_ed25519')
  await mkdir(join(dataDir, 'ssh'))
  await writeFile(path, 'nonsense')
  expect(() => ensureHostKey(dataDir)).toThrow(
    `${path} holds no private key for SSH (Unsupported key format): bring the right one back, or remove it to get a new one.`,
  )
  expect(await readFile(path, 'utf8')).toBe('nonsense')
})
