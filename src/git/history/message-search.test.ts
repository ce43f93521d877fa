import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCommit } from '../objects/commits.ts'
import { searchText } from '../objects/text-search.ts'
import { RepositoryUnion } from '../repository/union.ts'
import { TestGit } from '../testing.ts'
import { findBelow, searchMessages } from './message-search.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const bounds = { maxFound: 100, timeoutMs: 100_000 }

/** Two unrelated repositories, and a third one that is a copy of the second with more commits. */
async function three() {
  const [one, two, copy] = [await world.repository(), await world.repository(), await world.repository()]
  const first = one.commit({ a: 'needle one\n' }, { message: 'Add ONE (a+)+', seconds: 100 })
  const shared = two.commit({ b: 'needle two\n' }, { message: 'add two', seconds: 50 })
  copy.commit({ b: 'needle two\n' }, { message: 'add two', seconds: 50 })
  const more = copy.commit({ c: 'needle three\n' }, { message: 'add three', seconds: 200 })
  return { one, two, copy, first, shared, more, repos: [one.repo, two.repo, copy.repo] }
}

describe('unions of repositories', () => {
  test('a union finds the files of all its repositories, each in its commit', async () => {
    const { first, shared, more, repos } = await three()
    await using union = await RepositoryUnion.of(world.git, repos)
    const { found } = await searchText(union, [more, first, shared], { ...bounds, text: 'needle', maxBytes: 1e6 })
    expect(found.map(({ commit, path }) => [commit, path])).toEqual([
      [more, 'b'],
      [more, 'c'],
      [first, 'a'],
      [shared, 'b'],
    ])
  })

  test('a union has no refs, and no objects of other repositories', async () => {
    const { one, first, shared } = await three()
    await using union = await RepositoryUnion.of(world.git, [one.repo])
    expect(await readCommit(union, first)).toMatchObject({ oid: first })
    expect(await readCommit(union, shared)).toBeUndefined()
    expect((await union.run('for-each-ref')).stdout.toString()).toBe('')
  })

  test('a union fails only for objects of a removed repository', async () => {
    const { one, two, first, shared } = await three()
    await world.git.removeRepository(two.gitDir)
    await using union = await RepositoryUnion.of(world.git, [one.repo, two.repo])
    const search = (tips: (typeof first)[]) => searchMessages(union, tips, { ...bounds, message: 'add' })
    expect((await search([first])).found).toHaveLength(1)
    await expect(search([first, shared])).rejects.toMatchObject({ code: 128 })
  })
})

describe('searchMessages', () => {
  test('searchMessages finds plain text in any case, newest first, each commit once', async () => {
    const { first, shared, more, repos } = await three()
    await using union = await RepositoryUnion.of(world.git, repos)
    const ids = async (message: string, maxFound = 100) => {
      const all = await searchMessages(union, [first, shared, more], { ...bounds, message, maxFound })
      return [all.complete, ...all.found.map(({ oid }) => oid)]
    }
    expect(await ids('ADD')).toEqual([true, more, first, shared])
    expect(await ids('ADD', 2)).toEqual([false, more, first])
    expect(await ids('(A+)+')).toEqual([true, first])
    expect(await ids('--all')).toEqual([true])
    const { found } = await searchMessages(union, [more], { ...bounds, message: 'two' })
    expect(found).toEqual([{ oid: shared, tip: more, seconds: 50 }])
  })

  test('searchMessages returns partial results at its deadline', async () => {
    const { one, first } = await three()
    const cut = await searchMessages(one.repo, [first], { ...bounds, message: 'add', timeoutMs: 1 })
    expect(cut.timedOut ? cut.complete : true).toBe(!cut.timedOut)
  })
})

test('findBelow names the tip from which a commit is reachable', async () => {
  const { first, shared, more, repos } = await three()
  await using union = await RepositoryUnion.of(world.git, repos)
  const commit = (await readCommit(union, shared))!
  expect(await findBelow(union, [first, more], commit, 10_000)).toEqual({ oid: shared, tip: more, seconds: 50 })
  expect(await findBelow(union, [first], commit, 10_000)).toBeUndefined()
})

test('findBelow finds commits of any time, also after January 2038', async () => {
  const made = await world.repository()
  for (const seconds of [0, 2 ** 31 - 2, 2 ** 31 - 1, 2 ** 31, 2_300_000_000, 2 ** 33]) {
    const oid = made.commit({ a: `${seconds}` }, { seconds })
    const later = made.commit({ b: `${seconds}` }, { seconds })
    const commit = (await readCommit(made.repo, oid))!
    expect(await findBelow(made.repo, [later], commit, 10_000)).toEqual({ oid, tip: later, seconds })
  }
})
