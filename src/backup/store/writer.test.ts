import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../processes/testing/launch.ts'
import { InventoryWriter, type NewEntry, Reader } from './inventory.ts'
import { Pace } from './pace.ts'
import { BackupStore } from './store.ts'
import { piecesOf, Writer } from './writer.ts'

const unlimited = new Pace(1_000_000)

async function newStore(): Promise<BackupStore> {
  const url = `file://${await temporaryFolder()}/store`
  return BackupStore.open(url, { keyFile: undefined, create: { installation: 'one' } })
}

async function* partsOf(content: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

test.for([0, 1, 4095, 256 * 1024, 256 * 1024 + 1, 4 * 1024 * 1024, 9_000_000])(
  'a file of %i bytes is read as it was written',
  async (size) => {
    const store = await newStore()
    const writer = new Writer(store, unlimited, new Set())
    const content = randomBytes(size)
    const { location, size: written } = await writer.file(partsOf(content, 70_000))
    await writer.flush()
    expect(written).toBe(size)
    expect((await new Reader(store).bytes(piecesOf(location))).equals(content)).toBe(true)
  },
)

test('rows are read as they were written, also those larger than a piece', async () => {
  const store = await newStore()
  const writer = new Writer(store, unlimited, new Set())
  const sizes = [1, 10, 5_000_000, 100, 9_000_000, ...Array.from({ length: 5_000 }, (_, n) => 50 + ((n * 7919) % 900))]
  const all = sizes.map((size) => randomBytes(size))
  const rows = writer.rows()
  const reused = Buffer.alloc(9_000_000)
  for (const row of all) {
    // The driver uses the memory of a row again.
    row.copy(reused)
    const wait = rows.add(reused.subarray(0, row.length))
    reused.fill(0, 0, row.length)
    await wait
  }
  const location = await rows.end()
  await writer.flush()
  expect((await new Reader(store).bytes(piecesOf(location))).equals(Buffer.concat(all))).toBe(true)
})

test('a changed row changes one or two pieces of a table', async () => {
  const store = await newStore()
  const all = Array.from({ length: 100_000 }, (_, n) =>
    Buffer.from(`${n}\tthe row number ${n}, ${(n * 7919) % 1013}\n`.repeat(3)),
  )
  const write = async () => {
    const known = new Set<string>()
    for await (const name of store.names()) known.add(name)
    const writer = new Writer(store, unlimited, known)
    const rows = writer.rows()
    for (const row of all) await rows.add(row)
    await rows.end()
    await writer.flush()
    return writer.counts.newPieces
  }
  expect(await write()).toBeGreaterThan(4)
  expect(await write()).toBe(0)
  all[50_000] = Buffer.from('another row\n')
  all.splice(20, 1)
  expect(await write()).toBeLessThanOrEqual(4)
})

test('an inventory of many small files is read in its order', async () => {
  const store = await newStore()
  const writer = new Writer(store, unlimited, new Set())
  const inventory = new InventoryWriter(writer)
  const entries: NewEntry[] = []
  for (let n = 0; n < 30_000; n++) {
    const at = await writer.bytes(Buffer.from(`content ${n % 100}`))
    entries.push({ is: 'data', path: `ssh/${n}`, size: 9, at })
    await inventory.add(entries.at(-1)!)
  }
  const at = await inventory.end()
  const reader = new Reader(store)
  const paths: string[] = []
  for await (const entry of reader.entries(at)) if (entry.is === 'data') paths.push(entry.path)
  expect(paths).toEqual(entries.map((entry) => entry.is === 'data' && entry.path))
})
