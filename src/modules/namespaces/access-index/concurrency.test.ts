import { describe, expect } from 'vitest'
import { compareAccess } from '../../../../test/recompute-access.ts'
import { test, World } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'

describe('concurrent changes of access', () => {
  test('the access index is correct after concurrent changes over many connections', async () => {
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
          world.group({ parent: inner }).then(() => ({ status: 201 })),
        ]),
      ),
    )

    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const { stored, expected } = await compareAccess(world)
    expect(stored).toEqual(expected)
  })

  test('409 when the same user is added concurrently again', async ({ world }) => {
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

  test('one owner remains when two leave a group concurrently', async ({ world }) => {
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
