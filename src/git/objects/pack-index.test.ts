import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PackIndex, UnknownIndex } from './pack-index.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stithy-index-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes the part of an index that is read: header, fanout and ids. */
function written(name: string, ids: readonly string[]): string {
  const path = join(folder, name)
  const sorted = [...ids].sort()
  const fanout = Buffer.alloc(256 * 4)
  for (let byte = 0, count = 0; byte < 256; byte++) {
    while (count < sorted.length && Number.parseInt(sorted[count]!.slice(0, 2), 16) <= byte) count++
    fanout.writeUInt32BE(count, byte * 4)
  }
  const header = Buffer.from('ff744f6300000002', 'hex')
  writeFileSync(path, Buffer.concat([header, fanout, ...sorted.map((id) => Buffer.from(id, 'hex'))]))
  return path
}

/** Ids that share their first byte, or are spread over all first bytes. */
const idsFrom = (count: number, byte = ''): string[] =>
  Array.from({ length: count }, (_, n) => (byte + hash('sha1', `${byte} ${n}`)).slice(0, 40))

describe('the index of a pack', () => {
  const kinds: readonly (readonly [title: string, ids: readonly string[]])[] = [
    ['with no object', []],
    ['with one object', idsFrom(1)],
    ['with few objects of each first byte', idsFrom(3000)],
    ['with many objects of the first and last first bytes', [...idsFrom(5000, '00'), ...idsFrom(5000, 'ff')]],
    ['with many objects of one first byte', idsFrom(1601, '7f')],
  ]
  for (const [title, ids] of kinds)
    test(`${title} finds the ids that begin with any text, and no others`, () => {
      using index = new PackIndex(written(title, ids))
      const asked = ids
        .filter((_, n) => n % 97 === 0)
        .flatMap((id) => [2, 3, 4, 7, 40].map((size) => id.slice(0, size)))
      asked.push('00', 'ff', '7f', 'deadbeef', '0'.repeat(40), 'f'.repeat(40), 'f'.repeat(64), `${'7f'.repeat(20)}0`)
      for (const prefix of asked)
        expect(index.idsWith(prefix)).toEqual(ids.filter((id) => id.startsWith(prefix)).sort())
    })

  test('is not read if the file has another format or is cut off', () => {
    for (const [name, bytes] of [
      ['version 1', Buffer.alloc(5000)],
      ['short', Buffer.from('ff744f6300000002', 'hex')],
      ['empty', Buffer.alloc(0)],
    ] as const) {
      const path = join(folder, name)
      writeFileSync(path, bytes)
      expect(() => new PackIndex(path)).toThrow(UnknownIndex)
    }
    const path = written('without all ids', idsFrom(100, '7f'))
    truncateSync(path, 2000)
    using index = new PackIndex(path)
    expect(() => index.idsWith('7f')).toThrow(UnknownIndex)
  })
})
