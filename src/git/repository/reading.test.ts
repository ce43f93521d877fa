import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { searchMessages } from '../history/message-search.ts'
import { newCommits } from '../history/new-commits.ts'
import { commitGenerations } from '../likeness/introductions.ts'
import { newPointers } from '../objects/pointers.ts'
import { listSizedFiles } from '../objects/sized-files.ts'
import { searchText } from '../objects/text-search.ts'
import type { Child } from '../runner/child.ts'
import { GitError } from '../runner/git-error.ts'
import { defaultTimeouts } from '../runner/timeouts.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { archiveStream } from '../transfer/archive.ts'
import type { Repository } from './repository.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const search = { text: 'needle', maxFound: 10, maxBytes: 1e6, timeoutMs: 60_000 }

/** Readers that start one git process, and read what it writes as it comes. */
const readers = [
  ['the search of text', async (repo: Repository, tip: Oid) => (await searchText(repo, [tip], search)).found],
  ['the list of files with sizes', (repo: Repository, tip: Oid) => listSizedFiles(repo, tip, 100)],
  ['the list of new commits', (repo: Repository, tip: Oid) => all(newCommits(repo, [tip], { withFiles: true }))],
  ['the list of generations', (repo: Repository) => commitGenerations(repo)],
  [
    'an archive',
    async (repo: Repository, tip: Oid) =>
      Buffer.concat(await (await archiveStream(repo, tip, { format: 'tar', prefix: '' })).toArray()),
  ],
] as const

async function all(batches: AsyncIterable<readonly unknown[]>): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const batch of batches) found.push(...batch)
  return found
}

/** A repository with a pack, whose commits no branch or tag reaches. */
async function packed(): Promise<{ made: TestRepository; tip: Oid }> {
  const made = await world.repository()
  for (let n = 0; n < 9; n++) made.commit({ [`d/f${n}`]: `needle ${n}\n` }, { branch: 'x' })
  const tip = made.git('rev-parse', 'x') as Oid
  made.git('update-ref', 'refs/keep-around/1', tip)
  made.git('update-ref', '-d', 'refs/heads/x')
  made.git('repack', '-adq')
  return { made, tip }
}

/** Replaces the content of a file from this place on by noise; by another file, because git has the old one mapped into memory. */
function spoil(made: TestRepository, pattern: RegExp, from: number): void {
  const folder = join(made.gitDir, 'objects/pack')
  const path = join(folder, readdirSync(folder).find((name) => pattern.test(name))!)
  const content = readFileSync(path).map((byte, at) => (at < from ? byte : byte ^ 0x5a))
  rmSync(path)
  writeFileSync(path, content)
  // As if the damage had been there for long.
  utimesSync(folder, new Date(0), new Date(0))
}

describe.for(readers)('%s', ([, read]) => {
  test('answers in a repository with a damaged index of a pack once that has been written again', async () => {
    const { made, tip } = await packed()
    const whole = await read(made.repo, tip)
    spoil(made, /\.idx$/, 100)
    await expect.poll(() => read(made.repo, tip).catch(String), { timeout: 60_000 }).toEqual(whole)
  })

  test('answers at once in a repository with a damaged index of all packs, which is removed', async () => {
    const { made, tip } = await packed()
    const whole = await read(made.repo, tip)
    made.git('multi-pack-index', 'write')
    spoil(made, /^multi-pack-index$/, 100)
    expect(await read(made.repo, tip)).toEqual(whole)
    expect(readdirSync(join(made.gitDir, 'objects/pack'))).not.toContain('multi-pack-index')
  })
})

test('a stream of a git process that has failed before it is read fails its reader', async () => {
  const { repo } = await world.repository()
  for (const read of [(stream: Child) => stream.toArray(), (stream: Child) => pipeline(stream, new PassThrough())]) {
    const stream = await repo.stream('pack-objects', { flags: ['--revs', '--stdout'], input: `${'f'.repeat(40)}\n` })
    await expect.poll(() => stream.closed).toBe(true)
    await expect(read(stream)).rejects.toBeInstanceOf(GitError)
  }
})

describe('a git process that does not end', () => {
  /** Short: git waits for ever for the content of the commit. */
  const timeoutMs = 300

  async function stuck(git: TestGit): Promise<{ repo: Repository; tip: Oid }> {
    const made = await git.repository()
    made.commit({ a: '1' })
    const tip = made.commit({ a: '2' })
    const commit = join(made.gitDir, 'objects', tip.slice(0, 2), tip.slice(2))
    rmSync(commit)
    execFileSync('mkfifo', [commit])
    return { repo: made.repo, tip }
  }

  test('fails its reader as one that takes too long', async () => {
    await using impatient = await TestGit.start({ timeouts: () => ({ ...defaultTimeouts, processMs: timeoutMs }) })
    const { repo, tip } = await stuck(impatient)
    await expect(all(newPointers(repo, [tip], { excluding: [] }))).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The operation took too long',
    })
  })

  test('ends a search of messages without a failure', async () => {
    const { repo, tip } = await stuck(world)
    expect(await searchMessages(repo, [tip], { message: 'Change', maxFound: 10, timeoutMs })).toEqual({
      found: [],
      complete: false,
      timedOut: true,
    })
  })

  test('gives no generations', async () => {
    const { repo } = await stuck(world)
    expect(await commitGenerations(repo, { commits: 10, bytes: 1000, ms: timeoutMs })).toBeUndefined()
  })
})
