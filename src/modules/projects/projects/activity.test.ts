import { describe, expect } from 'vitest'
import { lockRow } from '../../../../test/tables/instance.ts'
import { changeProject, inMinutes } from '../../../../test/tables/projects.ts'
import { test, type World } from '../../../../test/world.ts'

const lastActivity = async (world: World, id: number): Promise<number> =>
  Date.parse((await world.root.get(`/projects/${id}`)).json.last_activity_at)

const happenings = {
  'a commit': (world: World, id: number) =>
    world.root.post(`/projects/${id}/repository/commits`, {
      branch: 'master',
      commit_message: 'Add',
      actions: [{ action: 'create', file_path: 'a.txt', content: 'a' }],
    }),
  'an issue': (world: World, id: number) => world.root.post(`/projects/${id}/issues`, { title: 'Found' }),
}

describe.each(Object.entries(happenings))('the last activity of a project, after %s', (_, happen) => {
  test('is now', async ({ world }) => {
    const { id } = await world.project({ initialize_with_readme: true })
    await changeProject(world, id, { last_activity_at: inMinutes(-1) })
    const before = await lastActivity(world, id)
    expect((await happen(world, id)).status).toBe(201)
    expect(await lastActivity(world, id)).toBeGreaterThan(before + 55_000)
  })

  test('stays as it is if it is less than ten seconds old', async ({ world }) => {
    const { id } = await world.project({ initialize_with_readme: true })
    // Ahead of the clock, so that it is not older on a busy machine either.
    await changeProject(world, id, { last_activity_at: inMinutes(60) })
    const before = await lastActivity(world, id)
    expect((await happen(world, id)).status).toBe(201)
    expect(await lastActivity(world, id)).toBe(before)
  })
})

test('a note, whose issue is locked, does not wait for a change of its project', async ({ world }) => {
  const { id } = await world.project()
  const { iid } = (await world.root.post(`/projects/${id}/issues`, { title: 'Quiet' })).json
  await changeProject(world, id, { last_activity_at: inMinutes(-1) })
  await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', id, 'no key update')
    expect((await world.root.post(`/projects/${id}/issues/${iid}/notes`, { body: 'Yes' })).status).toBe(201)
  })
})
