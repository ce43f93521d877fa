import { describe, expect } from 'vitest'
import { compareAccess } from '../../../../test/recompute-access.ts'
import { test, World } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'

describe('changes of access at the same moment', () => {
  test('through many connections leave the index as one after the other would', async () => {
    await using world = await World.start()
    const people = await Promise.all(Array.from({ length: 4 }, () => world.user()))
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner })
    const holders = [`/groups/${top.id}`, `/groups/${inner.id}`, `/projects/${project.id}`]

    const answers = await Promise.all(
      people.flatMap(({ id: user_id }) =>
        holders.flatMap((holder) => [
          world.root.post(`${holder}/members`, { user_id, access_level: levels.guest }),
          world.root.put(`${holder}/members/${user_id}`, { access_level: levels.developer }),
          world.root.delete(`${holder}/members/${user_id}`),
          world.root.post(`${holder}/members`, { user_id, access_level: levels.reporter }),
          world.root.put(`/groups/${inner.id}`, { share_with_group_lock: user_id % 2 === 0 }),
        ]),
      ),
    )

    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const { stored, expected } = await compareAccess(world)
    expect(stored).toEqual(expected)
  })

  test('adding the same person twice makes one member, and the other call a conflict', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group()
    const answers = await Promise.all(
      [10, 20, 30].map((access_level) =>
        world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.json).toEqual({ message: 'Member already exists' })
  })

  test('two owners who leave together do not leave a group without one', async ({ world }) => {
    const ann = await world.user()
    const bob = await world.user()
    const group = await world.group({}, ann)
    await ann.post(`/groups/${group.id}/members`, { user_id: bob.id, access_level: levels.owner })

    const answers = await Promise.all([
      ann.delete(`/groups/${group.id}/members/${ann.id}`),
      bob.delete(`/groups/${group.id}/members/${bob.id}`),
    ])

    expect(answers.map(({ status }) => status).sort()).toEqual([204, 403])
  })
})
