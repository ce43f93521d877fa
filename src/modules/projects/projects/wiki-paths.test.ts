import { expect } from 'vitest'
import { lockTable, waitingFor } from '../../../../test/tables/instance.ts'
import { waitMs } from '../../../../test/waiting.ts'
import { type Answer, test, unique, World } from '../../../../test/world.ts'

/** Sends requests that write rows of the table while none can be written, and returns their statuses. */
async function atOnce(world: World, table: string, ...send: readonly (() => Promise<Answer>)[]): Promise<number[]> {
  const sent = await world.db.transaction(async (tx) => {
    await lockTable(tx, table)
    const sent = send.map((each) => each())
    await expect.poll(() => waitingFor(world, 'lock'), { timeout: waitMs }).toHaveLength(send.length)
    return { all: Promise.all(sent) }
  })
  return (await sent.all).map(({ status }) => status).sort()
}

test('of two projects that are created at once one is not where the wiki of the other would be', async () => {
  await using world = await World.start()
  const { id } = await world.group()
  const path = unique('twin')
  const create = (named: string) => () => world.root.post('/projects', { path: named, namespace_id: id })
  expect(await atOnce(world, 'projects', create(path), create(`${path}.wiki`))).toEqual([201, 400])
})

test('a project that is renamed while another is created is not where the wiki of that one would be', async () => {
  await using world = await World.start()
  const group = await world.group()
  const project = await world.project({ group })
  const path = unique('twin')
  const statuses = await atOnce(
    world,
    'routes',
    () => world.root.put(`/projects/${project.id}`, { path: `${path}.WIKI` }),
    () => world.root.post('/projects', { path, namespace_id: group.id }),
  )
  expect(statuses).toEqual([expect.toBeOneOf([200, 201]), 400])
})
