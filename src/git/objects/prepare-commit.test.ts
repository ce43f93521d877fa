import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyTreeOid } from '../format/oid.ts'
import { gitIn, TestGit } from '../testing.ts'
import { readCommit } from './commits.ts'
import { prepareCommit } from './prepare-commit.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const ann = { name: 'Ann', email: 'ann@example.com', at: 1_700_000_000 }

test('commits without files are stored with those below them and one empty tree, which git finds', async () => {
  const { repo, gitDir } = await world.repository()
  const empty = { tree: emptyTreeOid, author: ann, committer: ann }
  const first = prepareCommit(repo, { ...empty, parents: [], message: 'First' })
  const second = prepareCommit(repo, { ...empty, parents: [first.commit.oid], message: 'Second' }, first.objects)
  expect(second.objects.map(({ oid }) => oid)).toEqual([emptyTreeOid, first.commit.oid, second.commit.oid])
  await second.store()
  expect(await readCommit(repo, first.commit.oid)).toEqual(first.commit)
  gitIn(gitDir, ['update-ref', 'refs/heads/main', second.commit.oid])
  expect(gitIn(gitDir, ['fsck', '--strict'])).toBe('')
  const stored = gitIn(gitDir, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).split('\n')
  expect(stored.toSorted()).toEqual(second.objects.map(({ oid }) => oid).toSorted())
})
