import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Random } from '../../../bench/varied/random.ts'
import { deltaOf, entry, made, packOf, varint } from '../../../test/made-packs.ts'
import type { Oid } from '../format/oid.ts'
import { gitEnvironment } from '../runner/environment.ts'
import { gitIn, TestGit, type TestRepository } from '../testing.ts'
import { readObject } from './read-object.ts'
import { type Base, readPack } from './small-pack.ts'

let world: TestGit
let repository: TestRepository
beforeAll(async () => {
  world = await TestGit.start()
  repository = await world.repository()
})
afterAll(() => world[Symbol.asyncDispose]())

const readBase = async (oid: Oid, maxBytes: number): Promise<Base | undefined> => {
  const found = await readObject(repository.repo, oid, maxBytes)
  return found?.content && { type: found.type, content: found.content }
}
const gitBytes = (gitDir: string, args: readonly string[], input = ''): Buffer =>
  execFileSync('git', ['-C', gitDir, ...args], { input, env: gitEnvironment(process.env['PATH']!) })
const nothing = async () => undefined

test('the objects of packs that git makes, with deltas in it and of what is stored, are those that git unpacks', async () => {
  const lines = (count: number, word: string) => Array.from({ length: count }, (_, n) => `${word} ${n}\n`).join('')
  const first = repository.commit({ 'a.txt': lines(3000, 'line'), 'b.txt': lines(500, 'other'), 'c/d.txt': 'd\n' })
  const second = repository.commit({
    'a.txt': `${lines(1500, 'line')}new\n${lines(1500, 'line')}`,
    'b.txt': `${lines(500, 'other')}end\n`,
    'b2.txt': `start\n${lines(500, 'other')}`,
    'empty.txt': '',
    'c/d.txt': 'e\n',
  })
  const wanted = gitIn(repository.gitDir, ['rev-list', '--objects', '--no-object-names', second, `^${first}`]).split(
    '\n',
  )
  for (const flags of [['--thin', '--delta-base-offset'], ['--thin'], ['--delta-base-offset'], []]) {
    const pack = gitBytes(
      repository.gitDir,
      ['pack-objects', '--stdout', '--revs', '-q', ...flags],
      `${second}\n^${first}\n`,
    )
    const objects = await readPack(pack, readBase)
    expect(objects?.map(({ oid }) => oid).toSorted()).toEqual(wanted.toSorted())
    for (const { oid, type, content } of objects!)
      expect(gitBytes(repository.gitDir, ['cat-file', type, oid]).equals(content)).toBe(true)
  }
  const thin = gitBytes(
    repository.gitDir,
    ['pack-objects', '--stdout', '--revs', '-q', '--thin'],
    `${second}\n^${first}\n`,
  )
  expect(await readPack(thin, nothing)).toBeUndefined()
})

/** A delta with random instructions, sometimes wrong ones, and the size that its result should have. */
function randomDelta(random: Random, base: Buffer): Buffer {
  const below = (limit: number) => random.whole(0, limit - 1)
  const parts: number[] = []
  let size = 0
  for (let left = 1 + below(5); left > 0; left--) {
    if (random.chance(0.4)) {
      const length = 1 + below(127)
      parts.push(length, ...Array.from({ length }, () => below(256)))
      size += length
      continue
    }
    const [start, length] = [
      below(base.length),
      random.chance(0.2) ? 0x10000 : 1 + below(random.chance(0.5) ? 200 : 70_000),
    ]
    const bytes = [
      start,
      start >> 8,
      start >> 16,
      start >> 24,
      length % 0x10000,
      (length % 0x10000) >> 8,
      length > 0x10000 ? 1 : 0,
    ]
    const [bits, given] = [bytes.map((byte) => (byte & 255) !== 0), bytes.map((byte) => byte & 255)]
    parts.push(
      0x80 | bits.reduce((sum, isSet, bit) => sum + (isSet ? 1 << bit : 0), 0),
      ...given.filter((_, bit) => bits[bit]),
    )
    size += length
  }
  if (random.chance(0.1)) parts[below(parts.length)] = below(256)
  if (random.chance(0.05)) size += 1 - below(3)
  const delta = Buffer.from([...varint(base.length), ...varint(size), ...parts])
  return random.chance(0.05) ? delta.subarray(0, delta.length - 1) : delta
}

test('random deltas make what git makes of them, and what git refuses is left to it', async () => {
  const random = new Random(3)
  const base = made('blob', Buffer.from(Array.from({ length: 30_000 }, (_, n) => `${n}\n`).join('')))
  const bytes = new Set<string>()
  let [read, refused] = [0, 0]
  for (let n = 0; n < 150; n++) {
    const pack = packOf([entry('blob', base.content), entry('delta', randomDelta(random, base.content), base.oid)])
    const objects = await readPack(pack, nothing)
    if (objects) {
      read++
      gitIn(repository.gitDir, ['unpack-objects', '-q'], pack)
      for (const { oid } of objects) bytes.add(oid)
    } else if (++refused <= 10) expect(() => gitIn(repository.gitDir, ['unpack-objects', '-q'], pack)).toThrow()
  }
  expect(Math.min(read, refused)).toBeGreaterThan(20)
  const found = gitIn(repository.gitDir, ['cat-file', '--batch-check=%(objecttype)'], [...bytes].join('\n'))
  expect(new Set(found.split('\n'))).toEqual(new Set(['blob']))
})

test('a pack that is malformed, cut off or has an object twice is left to git', async () => {
  const [one, other] = [made('blob', Buffer.from('one\n'.repeat(40))), made('blob', Buffer.from('two\n'.repeat(50)))]
  const whole = packOf([entry('blob', one.content), entry('blob', other.content), deltaOf(one, other)])
  expect(await readPack(whole, nothing)).toBeUndefined()
  const right = packOf([entry('blob', one.content), entry('blob', other.content)])
  expect(await readPack(right, nothing)).toHaveLength(2)
  const body = right.subarray(0, right.length - 20)
  const withHash = (part: Buffer) => Buffer.concat([part, hash('sha1', part, 'buffer')])
  for (let end = 12; end < body.length; end++)
    expect(await readPack(withHash(body.subarray(0, end)), nothing)).toBeUndefined()
  expect(await readPack(withHash(Buffer.concat([body, Buffer.from([0])])), nothing)).toBeUndefined()
})

test('content that is larger than a mebibyte, alone, together or as a delta makes it, is left to git', async () => {
  const half = made('blob', Buffer.alloc(600 * 1024))
  const large = made('blob', Buffer.alloc(1200 * 1024))
  expect(await readPack(packOf([entry('blob', half.content)]), nothing)).toHaveLength(1)
  expect(await readPack(packOf([entry('blob', large.content)]), nothing)).toBeUndefined()
  expect(
    await readPack(packOf([entry('blob', half.content), entry('blob', Buffer.alloc(600 * 1024, 1))]), nothing),
  ).toBeUndefined()
  // A kilobyte of instructions to copy 64 KiB each.
  const copies = Buffer.concat([
    Buffer.from([...varint(half.content.length), ...varint(100 * 65536)]),
    Buffer.alloc(100, 0x80),
  ])
  expect(
    await readPack(packOf([entry('blob', half.content), entry('delta', copies, half.oid)]), nothing),
  ).toBeUndefined()
  expect(await readPack(packOf([claiming(2 ** 40, deflateSync(Buffer.from('x')))]), nothing)).toBeUndefined()
})

test('a delta that is too short, has very many instructions, or builds on a large object is left to git', async () => {
  const base = made('blob', Buffer.from('x'.repeat(1000)))
  const packWith = (delta: Buffer) => packOf([entry('blob', base.content), entry('delta', delta, base.oid)])
  const single = (count: number) =>
    Buffer.concat([Buffer.from([...varint(1000), ...varint(count)]), Buffer.alloc(2 * count, Buffer.from([0x90, 1]))])
  expect(await readPack(packWith(single(10_000)), nothing)).toHaveLength(2)
  expect(await readPack(packWith(single(20_000)), nothing)).toBeUndefined()
  expect(await readPack(packWith(Buffer.from([...varint(1000), 0])), nothing)).toBeUndefined()
  const asked: unknown[] = []
  const ask = async (...words: unknown[]) => void asked.push(words)
  const onLarge = Buffer.from([...varint(2_000_000), ...varint(1), 0x90, 1])
  expect(await readPack(packOf([entry('delta', onLarge, base.oid)]), ask)).toBeUndefined()
  expect(asked).toEqual([])
})

/** An entry of a blob that says it has this size. */
function claiming(size: number, deflated: Buffer): Buffer {
  const head = [0xb0 | (size % 16)]
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128))
    head.push((left % 128) | (left > 127 ? 0x80 : 0))
  return Buffer.concat([Buffer.from(head), deflated])
}
