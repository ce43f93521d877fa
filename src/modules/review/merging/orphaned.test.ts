import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'
import { closeOrphaned } from './orphaned.ts'

/** A merge request from the fork of a user, created by root. */
async function fromFork(world: World, owner: Client) {
  const project = await storedProject(world)
  project.repository.commit({ a: 'a\n' })
  const source = await forkOf(world, project, owner)
  return { ...(await openMergeRequest(world, { project, source })), source }
}

async function close(world: World, id: number): Promise<void> {
  for (const { payload } of await world.takeJobs(`close_orphaned_merge_request:${id}`))
    await closeOrphaned.run(payload as never, await contextFor(world, null))
}

describe('merge requests from a deleted project', () => {
  test('a merge request is closed by the user who deletes its fork', async ({ world }) => {
    const owner = await world.user()
    const { id, at, source } = await fromFork(world, owner)
    expect((await owner.delete(`/projects/${source.id}`)).status).toBe(202)
    await close(world, id)
    expect((await world.root.get(at)).json).toMatchObject({
      state: 'closed',
      closed_by: { id: owner.id },
      source_project_id: source.id,
    })
    expect((await world.root.get(`${at}/notes`)).json[0]).toMatchObject({ system: true, body: 'closed' })
    const closings = { kind: 'merge_request_closed', payload: { merge_request_id: id } }
    expect(await eventsOf(world, closings)).toHaveLength(1)
  })

  test.for([false, true])(
    'it is closed when the owner of the fork is deleted, with hard_delete=%s',
    async (hard, { world }) => {
      const owner = await world.user()
      const { id, at } = await fromFork(world, owner)
      expect((await world.root.delete(`/users/${owner.id}?hard_delete=${hard}`)).status).toBe(204)
      await close(world, id)
      expect((await world.root.get(at)).json).toMatchObject({ state: 'closed', closed_by: { id: world.root.id } })
    },
  )

  test('merge requests within the deleted project, and of other forks, stay as they are', async ({ world }) => {
    const [one, two] = [await world.user(), await world.user()]
    const first = await fromFork(world, one)
    const second = await fromFork(world, two)
    await two.delete(`/projects/${second.source.id}`)
    await close(world, first.id)
    expect((await world.root.get(first.at)).json.state).toBe('opened')
  })
})
