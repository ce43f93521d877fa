import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { BackupDamaged, keyOfStore, proofOf, Seal } from './seal.ts'

const key = keyOfStore(Buffer.from('a secret'), 'store')
const contents = [Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(100_000, 'text '), randomBytes(100_000)]

describe.for([
  ['with a key', key],
  ['without a key', undefined],
] as const)('sealed %s', ([, used]) => {
  const seal = new Seal(used)

  test('contents come back as they were', async () => {
    for (const content of contents) {
      const name = seal.nameOf(content)
      expect((await seal.openNamed(name, await seal.close(name, content))).equals(content)).toBe(true)
    }
  })

  test('a difference in any byte is noticed', async () => {
    const name = seal.nameOf(contents[1]!)
    const bytes = await seal.close(name, contents[1]!)
    for (let at = 0; at < bytes.length; at++) {
      const other = Buffer.from(bytes)
      other[at]! ^= 0x10
      await expect(seal.openNamed(name, other), `byte ${at}`).rejects.toThrow(BackupDamaged)
    }
    await expect(seal.openNamed(name, bytes.subarray(0, -1))).rejects.toThrow(BackupDamaged)
  })

  test('content under the name of another is noticed', async () => {
    const [one, other] = [seal.nameOf(contents[1]!), seal.nameOf(contents[2]!)]
    await expect(seal.openNamed(other, await seal.close(one, contents[1]!))).rejects.toThrow(BackupDamaged)
  })
})

test('with a key, equal contents have the same name, and neither name nor bytes show them', async () => {
  const [seal, plain] = [new Seal(key), new Seal(undefined)]
  const content = contents[2]!
  expect(seal.nameOf(content)).toBe(seal.nameOf(Buffer.from(content)))
  expect(seal.nameOf(content)).not.toBe(plain.nameOf(content))
  const sealed = await seal.close('name', content)
  expect(sealed.includes('text')).toBe(false)
  expect(sealed.equals(await seal.close('name', content))).toBe(false)
})

test('stores have different keys from the same secret, and the proof differs from the key', () => {
  expect(keyOfStore(Buffer.from('a secret'), 'other').equals(key)).toBe(false)
  expect(proofOf(key)).not.toBe(key.toString('hex'))
})
