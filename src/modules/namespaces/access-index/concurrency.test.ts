import { describe, expect } from 'vitest'
import { compareAccess } from '../../../../test/recompute-access.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { type Answer, test, unique, World } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'
import { lockState } from '../../projects/projects/edit-queries.ts'

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

  const changes: Record<
    string,
    (world: World, id: { group: number; project: number; other: number }) => Promise<Answer>
  > = {
    'a rename of its group': ({ root }, { group }) => root.put(`/groups/${group}`, { path: unique('renamed') }),
    'a transfer of its group': ({ root }, { group, other }) =>
      root.post(`/groups/${group}/transfer`, { group_id: other }),
    'its transfer': ({ root }, { project, other }) => root.put(`/projects/${project}/transfer`, { namespace: other }),
    'its deletion': ({ root }, { project }) => root.delete(`/projects/${project}`),
  }

  test.for(Object.keys(changes))(
    'no other change of access waits for %s that waits for a project into which an archive is written',
    async (what, { world }) => {
      const ann = await world.user()
      const [group, other] = [await world.group(), await world.group()]
      const project = await world.project({ group })
      const sent = await world.db.transaction(async (tx) => {
        await lockState(tx, project.id)
        const changed = changes[what]!(world, { group: group.id, project: project.id, other: other.id })
        await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
        const added = await world.root.post(`/groups/${other.id}/members`, { user_id: ann.id, access_level: 30 })
        expect(added.status).toBe(201)
        // It has not given up.
        expect(await waitingFor(world, 'lock')).toHaveLength(1)
        return { changed }
      })
      expect((await sent.changed).status).toBeLessThan(300)
    },
  )
})
