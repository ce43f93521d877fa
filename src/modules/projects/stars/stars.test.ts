import { describe, expect } from 'vitest'
import { answerDuring } from '../../../../test/during.ts'
import { isUnlocked, lockRow, waitingFor } from '../../../../test/tables/instance.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { test } from '../../../../test/world.ts'

describe('stars', () => {
  test('a user who can read a project stars and unstars it, with 304 for repetitions', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ visibility: 'internal' })
    const call = (verb: string) => ann.post(`/projects/${project.id}/${verb}`)
    expect(await call('unstar')).toMatchObject({ status: 304, text: '' })
    expect(await call('star')).toMatchObject({ status: 201, json: { id: project.id, star_count: 1 } })
    expect(await call('star')).toMatchObject({ status: 304, text: '' })
    expect((await ann.get('/projects?starred=true')).json).toMatchObject([{ id: project.id, star_count: 1 }])
    expect(await call('unstar')).toMatchObject({ status: 201, json: { star_count: 0 } })
    expect((await ann.get('/projects?starred=true')).json).toEqual([])
  })

  test('404 for starring a hidden project, 401 for anonymous callers', async ({ world }) => {
    const ann = await world.user()
    const [hidden, open] = [await world.project(), await world.project({ visibility: 'public' })]
    expect((await ann.post(`/projects/${hidden.id}/star`)).status).toBe(404)
    expect((await world.anonymous.post(`/projects/${open.id}/star`)).status).toBe(401)
  })

  test('an archived project can be starred', async ({ world }) => {
    const project = await world.project()
    await world.root.post(`/projects/${project.id}/archive`)
    expect((await world.root.post(`/projects/${project.id}/star`)).status).toBe(201)
  })

  test('the project is not locked yet while a star waits for the account, as deletions lock them', async ({
    world,
  }) => {
    const ann = await world.user()
    const project = await world.project({ visibility: 'internal' })
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'users', ann.id)
      const waiting = ann.post(`/projects/${project.id}/star`)
      await expect.poll(() => waitingFor(world, 'lock', 'into stars')).toHaveLength(1)
      return { waiting, unlocked: await isUnlocked(tx, 'projects', project.id) }
    })
    expect((await waiting).status).toBe(201)
    expect(unlocked).toBe(true)
  })

  test('404 for a former member who was removed while the request waited', async ({ world }) => {
    const ann = await world.user()
    const { id } = await world.project({ members: [[ann, 'guest']] })
    const starred = await answerDuring(
      world,
      () => ann.post(`/projects/${id}/star`),
      () => world.root.delete(`/projects/${id}/members/${ann.id}`),
      (tx) => lockRow(tx, 'projects', id, 'no key update'),
    )
    expect(starred.status).toBe(404)
    expect((await world.root.get(`/projects/${id}/starrers`)).json).toEqual([])
  })

  test('star_count is correct after concurrent stars and unstars', async ({ world }) => {
    const people = await Promise.all(Array.from({ length: 6 }, () => world.user()))
    const project = await world.project({ visibility: 'internal' })
    const all = (verb: string) =>
      Promise.all([...people, ...people].map((who) => who.post(`/projects/${project.id}/${verb}`)))
    expect((await all('star')).filter(({ status }) => status === 201)).toHaveLength(6)
    expect((await world.root.get(`/projects/${project.id}`)).json.star_count).toBe(6)
    expect((await all('unstar')).filter(({ status }) => status === 201)).toHaveLength(6)
    expect((await world.root.get(`/projects/${project.id}`)).json.star_count).toBe(0)
  })

  test('starrers have the time of their star, without private profiles', async ({ world }) => {
    const [ann, bob, shy] = [await world.user(), await world.user(), await world.user({ private_profile: true })]
    const project = await world.project({ visibility: 'public' })
    for (const who of [ann, bob, shy]) await who.post(`/projects/${project.id}/star`)
    const starrers = async (who: typeof ann, query = '') => {
      const { json } = await who.get(`/projects/${project.id}/starrers${query}`)
      return json.map(({ user }: { user: { id: number } }) => user.id)
    }
    expect((await world.anonymous.get(`/projects/${project.id}/starrers`)).json[0]).toEqual({
      starred_since: expect.stringMatching(/^\d{4}-.*Z$/),
      user: expect.objectContaining({ id: ann.id, username: ann.username }),
    })
    expect(await starrers(world.anonymous)).toEqual([ann.id, bob.id])
    expect(await starrers(shy)).toEqual([ann.id, bob.id, shy.id])
    expect(await starrers(world.root)).toEqual([ann.id, bob.id, shy.id])
    expect(await starrers(world.root, `?search=${bob.username}`)).toEqual([bob.id])
  })

  test('D2-STARRED-QUERY: starred projects of a user are listed if the caller can see them', async ({ world }) => {
    const ann = await world.user()
    const [open, secret] = [
      await world.project({ visibility: 'public' }),
      await world.project({ members: [[ann, 'guest']] }),
    ]
    for (const { id } of [open, secret]) await ann.post(`/projects/${id}/star`)
    const ids = async (who: typeof ann, query = '') => {
      const { json } = await who.get(`/users/${ann.username}/starred_projects?order_by=id&sort=asc${query}`)
      return json.map(({ id }: { id: number }) => id)
    }
    expect(await ids(ann)).toEqual([open.id, secret.id])
    expect(await ids(world.anonymous)).toEqual([open.id])
    // Filters of other lists, which are unknown parameters here.
    expect(await ids(ann, `&id_after=${open.id}&id_before=1&with_programming_language=none`)).toEqual([
      open.id,
      secret.id,
    ])
    expect(await ids(ann, '&visibility=private')).toEqual([secret.id])
    await changeUser(world, ann.id, { private_profile: true })
    expect(await ids(world.anonymous)).toEqual([])
    expect(await ids(ann)).toEqual([open.id, secret.id])
    expect(await ids(world.root)).toEqual([open.id, secret.id])
    expect(await world.root.get('/users/no-such-user/starred_projects')).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
  })
})
