import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { checkMergeability } from '../../src/modules/review/merging/check.ts'
import { contextFor } from '../contexts.ts'
import { todosAbout } from '../tables/discussion.ts'
import { storedMergeStatus } from '../tables/review.ts'
import { test } from '../world.ts'

const damaged = {
  status: 503,
  json: {
    message:
      '503 The repository is damaged: git on the server could not read it. Please contact your Stithy administrator.',
  },
}

const fileOf = (gitDir: string, oid: string) => join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2))

describe('without the tree of the target branch', () => {
  test('a merge request is not merged: the files of the branch would be removed', async ({ world }) => {
    const { project, at } = await openMergeRequest(world)
    const { repository } = project
    const main = repository.commit({ c: 'c\n' })
    await rm(fileOf(repository.gitDir, repository.git('rev-parse', 'main^{tree}')))
    expect(await world.root.put(`${at}/merge`)).toMatchObject(damaged)
    expect(repository.git('rev-parse', 'refs/heads/main')).toBe(main)
    expect((await world.root.get(at)).json).toMatchObject({ state: 'opened' })
  })

  test.for(['cherry_pick', 'revert'])('a commit is not applied to it by %s', async (verb, { world }) => {
    const { project, head } = await openMergeRequest(world)
    const { repository } = project
    const main = repository.commit({ c: 'c\n' })
    await rm(fileOf(repository.gitDir, repository.git('rev-parse', 'main^{tree}')))
    const path = `/projects/${project.id}/repository/commits/${head}/${verb}`
    expect(await world.root.post(path, { branch: 'main' })).toMatchObject(damaged)
    expect(repository.git('rev-parse', 'refs/heads/main')).toBe(main)
  })
})

test('a commit whose parent is lost is not reverted: its files would be removed', async ({ world }) => {
  const { project } = await openMergeRequest(world)
  const { repository } = project
  const parent = repository.commit({ c: 'c\n' }, { branch: 'side' })
  const tip = repository.commit({ d: 'd\n' }, { branch: 'side' })
  await rm(fileOf(repository.gitDir, parent))
  const path = `/projects/${project.id}/repository/commits/${tip}/revert`
  expect(await world.root.post(path, { branch: 'side' })).toMatchObject(damaged)
  expect(repository.git('rev-parse', 'refs/heads/side')).toBe(tip)
})

test('a merge request whose commits are lost has no conflict, and its author no todo', async ({ world }) => {
  const { project, id, head } = await openMergeRequest(world)
  const { repository } = project
  repository.commit({ c: 'c\n' })
  repository.git('commit-graph', 'write', '--reachable')
  await rm(fileOf(repository.gitDir, head))
  const ctx = await contextFor(world, null)
  await expect(checkMergeability.run({ mergeRequestId: id }, ctx)).rejects.toThrow('The repository is damaged')
  expect((await storedMergeStatus(world, id))[0].merge_status).not.toContain('cannot_be_merged')
  expect(await todosAbout(world, id)).toEqual([])
})
