import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, type World } from '../../../../test/world.ts'
import { type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { checkMergeability } from './check.ts'
import { afterPush } from './testing.ts'

const awaited = { merge_when_pipeline_succeeds: true }

/** A merge request that merges automatically once its pipeline succeeds, checked. */
async function waiting(world: World): Promise<OpenedMergeRequest> {
  const opened = await openMergeRequest(world, {})
  const { project, head, branch } = opened
  await world.root.post(`/projects/${project.id}/statuses/${head}`, { state: 'running', ref: branch })
  expect((await world.root.put(`${opened.at}/merge`, awaited)).status).toBe(200)
  await check(world, opened)
  return opened
}

const check = async (world: World, { id }: OpenedMergeRequest) =>
  checkMergeability.run({ mergeRequestId: id }, await contextFor(world, null))

type Act = (world: World, one: OpenedMergeRequest) => Promise<unknown>

const acts: readonly (readonly [string, Act])[] = [
  [
    'its automatic merge is canceled',
    async (world, { at }) =>
      expect((await world.root.post(`${at}/cancel_merge_when_pipeline_succeeds`)).status).toBe(201),
  ],
  [
    'its automatic merge is enabled with other options',
    async (world, { at }) =>
      expect((await world.root.put(`${at}/merge`, { ...awaited, squash: true })).status).toBe(200),
  ],
  [
    'it is merged',
    async (world, { at }) => expect((await world.root.put(`${at}/merge`)).json).toMatchObject({ state: 'merged' }),
  ],
  [
    'it is merged by a push',
    async (world, { at, project }) => {
      project.repository.git('update-ref', 'refs/heads/main', 'topic')
      await afterPush(world, project)
      expect((await world.root.get(at)).json).toMatchObject({ state: 'merged' })
    },
  ],
  [
    'its source branch is deleted',
    async (world, { at, project }) => {
      project.repository.git('update-ref', '-d', 'refs/heads/topic')
      await afterPush(world, project)
      expect((await world.root.get(at)).json).toMatchObject({ state: 'closed' })
    },
  ],
  [
    'its source branch gets a commit',
    async (world, { at, project }) => {
      const sha = project.repository.commit({ c: 'c' }, { branch: 'topic' })
      await afterPush(world, project)
      expect((await world.root.get(at)).json).toMatchObject({ sha, ...{ merge_when_pipeline_succeeds: false } })
    },
  ],
  [
    'its target branch gets a conflicting commit',
    async (world, one) => {
      one.project.repository.commit({ b: 'other\n' }, { branch: 'main' })
      await afterPush(world, one.project)
      await check(world, one)
      expect((await world.root.get(one.at)).json).toMatchObject({ merge_status: 'cannot_be_merged' })
    },
  ],
  [
    'it is closed and reopened',
    async (world, { at }) => {
      for (const state_event of ['close', 'reopen'])
        expect((await world.root.put(at, { state_event })).status).toBe(200)
    },
  ],
]

test.for(acts)('the merge request of another project stays as it is when %s', async ([, act], { world }) => {
  const [one, other] = [await waiting(world), await waiting(world)]
  const read = async () => (await world.root.get(other.at)).json
  const before = await read()
  expect(before).toMatchObject({ state: 'opened', merge_status: 'can_be_merged', merge_when_pipeline_succeeds: true })
  await act(world, one)
  expect(await read()).toEqual(before)
})
