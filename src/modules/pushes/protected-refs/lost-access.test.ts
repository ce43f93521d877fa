import { describe, expect } from 'vitest'
import { endShares } from '../../../../test/tables/access.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { deleteGrants, insertGrants, lockProtectedRef } from './queries.ts'

/** A project in a group, of which mia is a maintainer herself, and another group that has access and of which she is a member. */
async function withGroup(world: World, place: 'shared' | 'above') {
  const mia = await world.user()
  const group = await world.group({ members: [[mia, 'developer']] })
  const above = place === 'above' ? group : await world.group()
  const project = await storedProject(world, { visibility: 'private', group: above, members: [[mia, 'maintainer']] })
  project.repository.commit({ 'a.txt': 'a\n' })
  if (place === 'shared') {
    const share = { group_id: group.id, group_access: 30 }
    expect((await world.root.post(`/projects/${project.id}/share`, share)).status).toBe(201)
  }
  return { mia, group, project }
}

/** Only those named may push to main, merge into it, create tags and unprotect main. */
async function protect(world: World, { id }: StoredProject, grant: object): Promise<void> {
  const branch = { name: 'main', allowed_to_push: [grant], allowed_to_merge: [grant], allowed_to_unprotect: [grant] }
  expect((await world.root.post(`/projects/${id}/protected_branches`, branch)).status).toBe(201)
  const tag = { name: '*', allowed_to_create: [grant] }
  expect((await world.root.post(`/projects/${id}/protected_tags`, tag)).status).toBe(201)
}

/** Statuses of a commit to main, a new tag, and a change of the protection. */
async function tries(who: Client, { id }: StoredProject): Promise<number[]> {
  const at = `/projects/${id}`
  const actions = [{ action: 'create', file_path: unique('file'), content: '' }]
  const answers = [
    await who.post(`${at}/repository/commits`, { branch: 'main', commit_message: 'x', actions }),
    await who.post(`${at}/repository/tags`, { tag_name: unique('v'), ref: 'main' }),
    await who.send('PATCH', `${at}/protected_branches/main`, { json: { allow_force_push: true } }),
  ]
  return answers.map(({ status }) => status)
}

describe('access to protected branches and tags of', () => {
  test.for([
    [
      'is not shared with the project any more',
      'shared',
      (world: World, { id }: StoredProject, groupId: number) => world.root.delete(`/projects/${id}/share/${groupId}`),
    ],
    ['had a share that has expired', 'shared', (world: World, { id }: StoredProject) => endShares(world, id)],
    [
      'is not above the project any more',
      'above',
      async (world: World, { id }: StoredProject) =>
        world.root.put(`/projects/${id}/transfer`, { namespace: (await world.group()).id }),
    ],
  ] as const)('a group ends for its members once it %s', async ([, place, end], { world }) => {
    const { mia, group, project } = await withGroup(world, place)
    await protect(world, project, { group_id: group.id })
    expect(await tries(mia, project)).toEqual([201, 201, 200])
    await end(world, project, group.id)
    expect(await tries(mia, project)).toEqual([403, 400, 403])
  })

  test.for([
    ['is removed', (at: string, root: Client, id: number) => root.delete(`${at}/members/${id}`)],
    [
      'gets a lower role',
      (at: string, root: Client, id: number) => root.put(`${at}/members/${id}`, { access_level: 20 }),
    ],
  ] as const)('a user ends once they are no developer any more: %s', async ([, end], { world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = await storedProject(world, {
      visibility: 'public',
      members: [
        [ann, 'maintainer'],
        [bob, 'maintainer'],
      ],
    })
    project.repository.commit({ 'a.txt': 'a\n' })
    await protect(world, project, { user_id: ann.id })
    expect(await tries(ann, project)).toEqual([201, 201, 200])
    expect(await tries(bob, project)).toEqual([403, 400, 403])
    expect((await end(`/projects/${project.id}`, world.root, ann.id)).status).toBeLessThan(300)
    expect(await tries(ann, project)).toEqual([403, 403, 403])
    expect(await tries(bob, project)).toEqual([403, 400, 403])
  })
})

describe('a change of a protection that waits for another one', () => {
  test.for([
    ['404 to a maintainer who was removed', 404, 'member'],
    ['403 to a maintainer who may not unprotect any more', 403, 'grant'],
  ] as const)('%s meanwhile', async ([, status, lost], { world }) => {
    const [mia, max] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [mia, 'maintainer'],
        [max, 'maintainer'],
      ],
    })
    const at = `/projects/${project.id}`
    const rule = (await world.root.post(`${at}/protected_branches`, { name: 'stable' })).json
    const sent = await world.db.transaction(async (tx) => {
      expect(await lockProtectedRef(tx, rule.id)).toBe(true)
      const waiting = mia.delete(`${at}/protected_branches/stable`)
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      if (lost === 'member') await world.root.delete(`${at}/members/${mia.id}`)
      else {
        await deleteGrants(tx, rule.id, 'unprotect')
        await insertGrants(tx, rule.id, 'unprotect', [{ access_level: null, user_id: max.id, group_id: null }])
      }
      return { waiting }
    })
    expect((await sent.waiting).status).toBe(status)
    expect((await world.root.get(`${at}/protected_branches/stable`)).status).toBe(200)
  })
})
