import { describe, expect } from 'vitest'
import { changeMember, membersLast } from '../../../../test/tables/access.ts'
import { projectRow } from '../../../../test/tables/projects.ts'
import { today } from '../../../../test/tables/statements.ts'
import { test, unique } from '../../../../test/world.ts'
import { remove, settle } from './testing.ts'

const stale = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }

describe('DELETE /users/:id', () => {
  test('D3-USER-DELETE: administrators delete users with 204, then 404', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    for (const who of [ann, bob])
      expect(await who.delete(`/users/${ann.id}`)).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await world.anonymous.delete(`/users/${ann.id}`)).status).toBe(401)
    expect((await world.root.delete(`/users/${ann.id}`, { headers: stale })).status).toBe(412)
    expect(await remove(world, ann)).toMatchObject({ status: 204, text: '' })
    await settle(world, ann)
    expect(await remove(world, ann)).toMatchObject({ status: 404, json: { message: '404 User Not Found' } })
    expect((await world.root.get(`/users/${ann.id}`)).status).toBe(404)
  })

  test('a deleted user has no access at once, and their name and projects are gone', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    const mine = (await ann.post('/projects', { name: 'Mine', visibility: 'public' })).json
    expect((await remove(world, ann)).status).toBe(204)
    // A process is notified of revoked tokens within a second.
    await expect.poll(async () => (await ann.get('/user')).status).toBe(401)
    const password = Buffer.from(`${ann.username}:correct horse battery`).toString('base64')
    const refs = `//${project.full_path}.git/info/refs?service=git-upload-pack`
    expect((await world.anonymous.get(refs, { headers: { authorization: `Basic ${password}` } })).status).toBe(403)
    expect((await world.root.get(`/projects/${mine.id}`)).status).toBe(404)
    expect((await world.root.get(`/projects/${project.id}/members/${ann.id}`)).status).toBe(404)
    expect((await world.root.get(`/users/${ann.id}`)).json.state).toBe('blocked')
    const leaving = { status: 403, json: { message: '403 Forbidden - This user is being removed' } }
    for (const way of ['unblock', 'activate', 'ban', 'unban', 'deactivate', 'block'])
      expect(await world.root.post(`/users/${ann.id}/${way}`)).toMatchObject(leaving)
    expect(await world.root.put(`/users/${ann.id}`, { username: unique('stays') })).toMatchObject(leaving)
    const again = { user_id: ann.id, access_level: 30 }
    expect(await world.root.post(`/projects/${project.id}/members`, again)).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
    expect((await world.root.get(`/users/${ann.id}`)).json.state).toBe('blocked')
    expect((await remove(world, ann)).status).toBe(204)
    await settle(world, ann)
    expect(await projectRow(world, mine.id, 'id')).toEqual([])
    expect(
      (
        await world.root.post('/users', {
          username: ann.username,
          email: `${ann.username}@example.com`,
          name: 'Another',
          password: 'correct horse',
        })
      ).status,
    ).toBe(201)
  })

  test('409 for deleting the only active owner of a group; with another one, 204', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({ members: [[bob, 'owner']] }, ann)
    await changeMember(world, group.id, bob.id, { expires_at: today })
    expect((await remove(world, ann)).status).toBe(409)
    await membersLast(world, group.id)
    await world.root.post(`/users/${bob.id}/block`)
    expect((await remove(world, ann)).status).toBe(409)
    await world.root.post(`/users/${bob.id}/unblock`)
    // Of two concurrent deletions, one owner remains.
    const answers = await Promise.all([remove(world, ann), remove(world, bob)])
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
  })
})
