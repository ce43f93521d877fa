import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { Repository } from '../repository/repository.ts'
import { gitIn, TestGit, type TestRepository } from '../testing.ts'
import { commitsByPrefix } from './prefixes.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Lets the last change of a folder lie long enough in the past. */
const settle = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })

/** Counts the reads that use git. */
const countQuestions = () => vi.spyOn(Repository.prototype, 'objects')

/** Stores many commits, each with a file, and tags of some of them, as one pack or loose. Their ids are the same in each run. */
function store(
  { gitDir }: TestRepository,
  { commits, seed, loose = false }: { commits: number; seed: number; loose?: boolean },
) {
  const lines: string[] = []
  for (let n = 0; n < commits; n++) {
    const person = `Ann <ann@example.com> ${1_700_000_000 + n} +0000`
    lines.push(`commit refs/heads/made-${seed}`, `author ${person}`, `committer ${person}`, 'data 1', 'x')
    lines.push('M 100644 inline file', `data ${`${seed} ${n}`.length}`, `${seed} ${n}`, '')
    if (n % 4 === 0)
      lines.push(`tag tag-${seed}-${n}`, `from refs/heads/made-${seed}`, `tagger ${person}`, 'data 1', 'x')
  }
  const limit = `fastimport.unpackLimit=${loose ? 100_000 : 1}`
  gitIn(gitDir, ['-c', limit, 'fast-import', '--quiet', '--force'], `${lines.join('\n')}\n`)
}

const idsOf = ({ gitDir }: TestRepository): Oid[] =>
  gitIn(gitDir, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).split('\n') as Oid[]

/** The commits that git itself finds. */
function foundByGit({ gitDir }: TestRepository, prefixes: readonly string[]): (string | undefined)[] {
  const asked = prefixes.map((prefix) => `${prefix}^{commit}\n`).join('')
  const lines = gitIn(gitDir, ['cat-file', '--batch-check'], asked).split('\n')
  return prefixes.map((prefix, index) => {
    const id = /^([0-9a-f]{40}) commit /.exec(lines[index]!)?.[1]
    return id?.startsWith(prefix) ? id : undefined
  })
}

describe('commits by prefix', () => {
  test('the same as git finds, among loose and packed objects of all types', async () => {
    const made = await world.repository()
    store(made, { commits: 800, seed: 1 })
    store(made, { commits: 60, seed: 2 })
    store(made, { commits: 60, seed: 3, loose: true })
    const ids = idsOf(made)
    const prefixes = [4, 5, 9, 40].flatMap((length) => [...new Set(ids.map((id) => id.slice(0, length)))])
    prefixes.push('0000', 'ffff', 'deadbeef', `${ids[0]}00`, 'f'.repeat(64))
    const found = await commitsByPrefix(made.repo, prefixes)
    expect(found).toEqual(foundByGit(made, prefixes))
    // Some prefixes are shared by commits, and some by a commit and an object of another type.
    const shared = prefixes.filter((prefix) => ids.filter((id) => id.startsWith(prefix)).length > 1)
    const commitsFor = new Set(shared.map((prefix) => found[prefixes.indexOf(prefix)] !== undefined))
    expect(commitsFor).toEqual(new Set([true, false]))
  })

  test('a branch whose name is the prefix of a commit does not hide it', async () => {
    const made = await world.repository()
    const first = made.commit({ a: '1' })
    const second = made.commit({ a: '2' })
    made.git('update-ref', `refs/heads/${first.slice(0, 8)}`, second)
    expect(await commitsByPrefix(made.repo, [first.slice(0, 8)])).toEqual([first])
  })

  test('commits of an alternate are found', async () => {
    const [origin, made] = [await world.repository(), await world.repository()]
    const head = origin.commit({ a: '1' })
    const prefix = head.slice(0, 8)
    settle()
    expect(await commitsByPrefix(made.repo, [prefix])).toEqual([undefined])
    mkdirSync(join(made.gitDir, 'objects/info'), { recursive: true })
    writeFileSync(join(made.gitDir, 'objects/info/alternates'), `${origin.gitDir}/objects\n`)
    expect(await commitsByPrefix(made.repo, [prefix])).toEqual([head])
    origin.git('update-ref', '-d', 'refs/heads/main')
    origin.git('prune', '--expire=now')
    expect(await commitsByPrefix(await reopened(made), [prefix])).toEqual([undefined])
  })

  test('an index in an unknown format leaves the answer to git', async () => {
    const made = await world.repository()
    const head = made.commit({ a: '1' })
    writeFileSync(join(made.gitDir, 'objects/pack/pack-1.idx'), 'not an index')
    expect(await commitsByPrefix(made.repo, [head.slice(0, 8), 'deadbeef'])).toEqual([head, undefined])
  })

  test('there are none in a repository that does not exist', async () => {
    const missing = world.git.open(join(world.folder, 'missing.git'))
    expect(await commitsByPrefix(missing, ['deadbeef'])).toEqual([undefined])
  })
})

/** The repository as a process sees it that has asked nothing yet. */
async function reopened({ gitDir }: TestRepository): Promise<Repository> {
  await world.git.helpers.close(gitDir)
  return world.git.open(gitDir)
}

describe('a prefix that was asked before', () => {
  test('is answered without git while the folders of objects are unchanged', async () => {
    const made = await world.repository()
    const head = made.commit({ a: '1' })
    settle()
    const asked = countQuestions()
    const blob = made.git('rev-parse', `${head}:a`).slice(0, 8)
    const prefixes = [head.slice(0, 8), head, blob, 'deadbeef']
    const answers = [head, head, undefined, undefined]
    expect(await commitsByPrefix(made.repo, prefixes)).toEqual(answers)
    expect(asked).toHaveBeenCalledTimes(1)
    expect(await commitsByPrefix(made.repo, prefixes)).toEqual(answers)
    expect(asked).toHaveBeenCalledTimes(1)
  })

  test('is asked again if a folder changed so recently that its next change may have the same time', async () => {
    const made = await world.repository()
    // The clock stands still.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const head = made.commit({ a: '1' })
    const asked = countQuestions()
    for (const times of [1, 2]) {
      expect(await commitsByPrefix(made.repo, [head.slice(0, 8)])).toEqual([head])
      expect(asked).toHaveBeenCalledTimes(times)
    }
  })

  test('is none if no id begins with it, without git', async () => {
    const made = await world.repository()
    store(made, { commits: 10, seed: 5 })
    const asked = countQuestions()
    expect(await commitsByPrefix(made.repo, ['deadbeef', 'cafe1234'])).toEqual([undefined, undefined])
    expect(asked).not.toHaveBeenCalled()
  })

  test('becomes a commit when another process stores it, loose or packed', async () => {
    const [made, other] = [await world.repository(), await world.repository()]
    store(other, { commits: 20, seed: 6 })
    const loose = other.git('rev-parse', 'made-6~3') as Oid
    const packed = other.git('rev-parse', 'made-6') as Oid
    const prefixes = [loose.slice(0, 8), packed.slice(0, 8)]
    settle()
    expect(await commitsByPrefix(made.repo, prefixes)).toEqual([undefined, undefined])
    gitIn(made.gitDir, ['hash-object', '-t', 'commit', '-w', '--stdin'], other.git('cat-file', 'commit', loose))
    expect(await commitsByPrefix(made.repo, prefixes)).toEqual([loose, undefined])
    made.git('-c', 'fetch.unpackLimit=1', 'fetch', '-q', other.gitDir, 'made-6:refs/heads/all')
    expect(await commitsByPrefix(made.repo, prefixes)).toEqual([loose, packed])
  })

  test('is none again when its commit was pruned, and remains one when it was packed', async () => {
    const made = await world.repository()
    const kept = made.commit({ a: '1' })
    const gone = made.commit({ a: '2' }, { branch: 'gone' })
    const prefixes = [kept.slice(0, 8), gone.slice(0, 8)]
    settle()
    expect(await commitsByPrefix(made.repo, prefixes)).toEqual([kept, gone])
    made.git('update-ref', '-d', 'refs/heads/gone')
    made.git('repack', '-q', '-a', '-d')
    made.git('prune', '--expire=now')
    expect(await commitsByPrefix(made.repo, prefixes)).toEqual([kept, undefined])
  })
})
