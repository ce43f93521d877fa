import { readFileSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../processes/testing/launch.ts'
import type { Oid } from '../format/oid.ts'
import { inDag } from '../history/dag.ts'
import { listCommitIds } from '../history/history.ts'
import { type TestFile, TestGit } from '../testing.ts'
import { writeCommitGraph } from '../transfer/maintenance.ts'
import { blobKey, commitGenerations, introductionsOf } from './introductions.ts'
import { Comparison, sketchOf } from './sketch.ts'
import { encodeSketches, SketchIndex } from './sketch-file.ts'
import { needsSketches, Sketches, writeSketches } from './sketches.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const words = 'return const value path index stream buffer commit branch token'.split(' ')

/** A file of a random kind: text with either line end, without a last newline, with long lines, or binary. */
function randomFile(random: (below: number) => number): Buffer {
  const end = ['\n', '\n', '\r\n'][random(3)]!
  const line = () => Array.from({ length: random(random(9) === 0 ? 40 : 6) }, () => words[random(10)]).join(' ')
  const text = Array.from({ length: 1 + random(30) }, line).join(end) + (random(3) === 0 ? '' : end)
  return random(8) === 0 ? Buffer.concat([Buffer.from([0, 255]), Buffer.from(text)]) : Buffer.from(text)
}

/** Some lines of one file and some of the other. */
function mixture(one: Buffer, other: Buffer, random: (below: number) => number): Buffer {
  const lines = (file: Buffer) => file.toString('latin1').split(/(?<=\n)/)
  const taken = [...lines(one).filter(() => random(10) < 6), ...lines(other).filter(() => random(10) < 4)]
  return Buffer.from(taken.join(''), 'latin1')
}

test('a file that git finds similar to another is similar by their sketches', async () => {
  const random = numbers(1)
  const made = await world.repository()
  const olds = Array.from({ length: 60 }, () => randomFile(random))
  const news = Array.from({ length: 200 }, () => mixture(olds[random(60)]!, olds[random(60)]!, random))
  const named = (prefix: string, files: readonly Buffer[]): Record<string, TestFile> =>
    Object.fromEntries(files.map((content, index) => [`${prefix}${index}`, content]))
  const before = made.commit(named('old', olds))
  const after = made.commit(named('new', news))
  const fields = made.git('diff-tree', '-r', '-z', '-C', '--find-copies-harder', before, after).split('\0')
  let found = 0
  for (const [at, field] of fields.entries()) {
    if (!/ [RC]\d+$/.test(field)) continue
    const [old, now] = [olds[Number(fields[at + 1]!.slice(3))]!, news[Number(fields[at + 2]!.slice(3))]!]
    expect(new Comparison(sketchOf(now)!, now.length).maybeSimilar(old.length, sketchOf(old)!)).toBe(true)
    found++
  }
  expect(found).toBeGreaterThan(30)
  // The sketches are of use: they exclude most of the other pairs.
  const pairs = news.flatMap((now) => olds.map((old) => [now, old] as const))
  const similar = pairs.filter(([now, old]) =>
    new Comparison(sketchOf(now)!, now.length).maybeSimilar(old.length, sketchOf(old)!),
  )
  expect(similar.length).toBeLessThan(pairs.length / 4)
})

test('a file of sketches has each blob, and a damaged one has none', async () => {
  const random = numbers(2)
  const blobs = Array.from({ length: 500 }, (_, n) => {
    const content = randomFile(random)
    const id = Buffer.from(Array.from({ length: 20 }, (_, at) => (at < 3 ? n % 5 : random(256))))
    return { id, sizeBytes: content.length, sketch: n % 7 === 0 ? undefined : sketchOf(content) }
  })
  // More than is read at once.
  const long = { id: Buffer.alloc(20, 8), sizeBytes: 250_000, sketch: Uint16Array.from({ length: 120_000 }, () => 7) }
  const longs = Array.from({ length: 5 }, (_, n) => ({ ...long, id: Buffer.alloc(20, 50 * n) }))
  const place = join(await temporaryFolder(), 'sketches')
  /** With a file of this content. */
  const within = async <T>(content: Buffer, work: (file: FileHandle) => Promise<T>): Promise<T> => {
    await writeFile(place, content)
    await using file = await open(place)
    return await work(file)
  }
  const all = [...blobs, ...longs]
  await within(encodeSketches(1234, all), async (file) => {
    const index = (await SketchIndex.read(file))!
    expect(index.objects).toBe(1234)
    const indexes = all.map(({ id }) => index.find(Buffer.concat([Buffer.from('before'), id]), 6))
    expect(indexes.map(index.blobBytes)).toEqual(all.map(({ sizeBytes }) => sizeBytes))
    expect(index.find(Buffer.alloc(20, 77), 0)).toBe(-1)
    const sketchesOf = async (wanted: readonly number[]) => {
      const found = new Map<number, number[]>()
      for await (const [at, sketch] of index.sketches(file, wanted)) found.set(at, [...sketch])
      return wanted.map((at) => found.get(at))
    }
    const expected = all.map(({ sketch }) => [...(sketch ?? [])])
    expect(await sketchesOf(indexes)).toEqual(expected)
    expect(await sketchesOf([indexes[3]!, indexes[490]!, indexes[3]!])).toEqual([
      expected[3],
      expected[490],
      expected[3],
    ])
  })
  const encoded = encodeSketches(1234, blobs)
  for (let at = 0; at < encoded.length; at += 97) {
    const damaged = Buffer.from(encoded)
    damaged[at]! ^= 0x10
    const objects = at >= 4 && at < 8 ? damaged.readUInt32LE(4) : undefined
    expect((await within(damaged, SketchIndex.read))?.objects).toBe(objects)
  }
  for (const length of [0, 3, 15, 16, encoded.length - 1])
    expect(await within(encoded.subarray(0, length), SketchIndex.read)).toBeUndefined()
})

/** A repository that is large enough for sketches, with files whose origin is another file, and without one. */
async function large() {
  const random = numbers(3)
  const text = (n: number) => Array.from({ length: 12 }, (_, at) => `${words[at % 10]} ${n} ${random(1e9)}\n`).join('')
  const made = await world.repository()
  const first = Object.fromEntries(Array.from({ length: 5_100 }, (_, n) => [`d${n % 40}/f${n}`, text(n)]))
  made.commit(first)
  made.commit({ 'd1/new': text(-1) })
  made.commit({ 'moved/exactly': first['d7/f7']!, 'd7/f7': null })
  made.commit({ 'moved/changed': first['d8/f8']!.replace(/^.*\n/, 'another line\n'), 'd8/f8': null })
  made.commit({ 'copied/changed': `${first['d9/f9']!}more\n` })
  made.commit({ 'moved/changed': 'all new\n', 'd1/new': 'all new, too\n' })
  await writeCommitGraph(made.repo)
  return made
}

test('a history that follows a file is that of git, before and after sketches are written and while they are damaged', async () => {
  const made = await large()
  const paths = ['d1/new', 'moved/exactly', 'moved/changed', 'copied/changed', 'd2/f2']
  const tip = made.git('rev-parse', 'main') as Oid
  const place = join(made.gitDir, 'objects/info/stithy-sketches')
  const check = async () => {
    for (const path of paths) {
      const found = await listCommitIds(made.repo, { from: [tip], path, follow: true }, { limit: 100 })
      expect(found).toEqual(made.git('log', '--follow', '--format=%H', 'main', '--', path).split('\n'))
    }
    // Results are cached by commit: forgotten for the next round.
    world.git.cache.clear()
  }
  await check()
  expect(await needsSketches(made.repo)).toBe(true)
  await writeSketches(made.repo)
  expect(await needsSketches(made.repo)).toBe(false)
  await check()
  // What the file has is kept when it is written again.
  made.commit(Object.fromEntries(Array.from({ length: 2_400 }, (_, n) => [`more/f${n}`, `${n}\n`])))
  made.git('repack', '-d', '-q')
  const before = readFileSync(place)
  await writeSketches(made.repo)
  expect(readFileSync(place).length).toBeGreaterThan(before.length)
  await check()
  const content = readFileSync(place)
  content[content.length >> 1]! ^= 1
  writeFileSync(place, content)
  await check()
  await using sketches = await Sketches.open(made.repo)
  expect(sketches.index).toBe(SketchIndex.empty)
  expect(await needsSketches(made.repo)).toBe(true)
})

test('files that several branches add, delete, add again and merge have the history that git finds, before and after new commits', async () => {
  const random = numbers(4)
  const made = await large()
  const contents = Array.from(
    { length: 12 },
    (_, n) => `${Array.from({ length: 10 }, (_, at) => `${words[at]} ${n}\n`).join('')}`,
  )
  const branches = ['main', 'one', 'two']
  for (const branch of branches.slice(1)) made.git('branch', branch, 'main')
  const tip = (branch: string) => made.git('rev-parse', branch) as Oid
  const there = new Map(branches.map((branch) => [branch, new Map<string, string>()]))
  const step = () => {
    const branch = branches[random(3)]!
    const files = there.get(branch)!
    const other = branches[random(3)]!
    if (random(5) === 0 && other !== branch) {
      const merged = new Map([...files, ...there.get(other)!])
      there.set(branch, merged)
      made.commit(Object.fromEntries(merged), { branch, parents: [tip(branch), tip(other)] })
      return
    }
    const path = `own/${random(10)}`
    const content = contents[random(12)]!.replace(/^.*\n/, `${random(3)}\n`)
    const isDeleted = files.has(path) && random(3) > 0
    if (isDeleted) files.delete(path)
    else files.set(path, content)
    made.commit({ [path]: isDeleted ? null : content }, { branch })
  }
  const steps = (count: number) => {
    for (let n = 0; n < count; n++) step()
  }
  let followed = 0
  const check = async () => {
    for (const branch of branches)
      for (const path of there.get(branch)!.keys()) {
        const found = await listCommitIds(made.repo, { from: [tip(branch)], path, follow: true }, { limit: 100 })
        const expected = made.git('log', '--follow', '--format=%H', branch, '--', path).split('\n')
        expect(found, `${branch}:${path}`).toEqual(expected)
        followed++
      }
    world.git.cache.clear()
  }
  steps(100)
  await writeSketches(made.repo)
  await writeCommitGraph(made.repo)
  await check()
  steps(30)
  await check()
  expect(followed).toBeGreaterThan(20)
})

test('a history beyond the limits has no introductions', async () => {
  const made = await world.repository()
  for (let n = 0; n < 5; n++) made.commit({ [`f${n}`]: `${n}\n` })
  const within = { commits: 5, bytes: 10_000, ms: 60_000 }
  expect(await commitGenerations(made.repo, { ...within, commits: 4 })).toBeUndefined()
  expect(await commitGenerations(made.repo, { ...within, bytes: 100 })).toBeUndefined()
  const generations = (await commitGenerations(made.repo, within))!
  expect([...generations.values()]).toEqual([1, 2, 3, 4, 5])
  expect(await introductionsOf(made.repo, generations, { ...within, bytes: 100 })).toBeUndefined()
  const found = (await introductionsOf(made.repo, generations, within))!
  const blob = Buffer.from(made.git('rev-parse', 'main:f3'), 'hex')
  expect(found.get(blobKey(blob))).toEqual({
    generation: 4,
    commit: Number.parseInt(made.git('rev-parse', 'main~1').slice(0, 8), 16),
  })
})

test('the history of a new file in a repository with sketches starts no git process but the reader of objects, and lists no tree', async () => {
  const made = await large()
  await writeSketches(made.repo)
  const tip = made.git('rev-parse', 'main') as Oid
  expect(await inDag(made.repo, [tip], async (dag) => dag.size)).toBe(6)
  world.git.cache.clear()
  const { start } = world.runner
  const started: string[] = []
  world.runner.start = (words, options) => {
    started.push(words[1]!)
    return start.call(world.runner, words, options)
  }
  try {
    expect(await listCommitIds(made.repo, { from: [tip], path: 'd1/new', follow: true }, { limit: 100 })).toHaveLength(
      2,
    )
  } finally {
    world.runner.start = start
  }
  expect(started.filter((word) => word !== 'cat-file')).toEqual([])
  const listed = () => [...world.git.cache.keys()].filter((key) => key.includes('raw-tree '))
  expect(listed()).toEqual([])
  // One with an older file like it is looked for in the tree.
  await listCommitIds(made.repo, { from: [tip], path: 'copied/changed', follow: true }, { limit: 100 })
  expect(listed().length).toBeGreaterThan(40)
})

test('a repository of a few files gets no sketches', async () => {
  const made = await world.repository()
  made.commit({ a: '1' })
  await writeSketches(made.repo)
  await using sketches = await Sketches.open(made.repo)
  expect(sketches.index).toBe(SketchIndex.empty)
})
