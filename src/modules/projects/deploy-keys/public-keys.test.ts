import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { newPublicKey } from '../../accounts/ssh-keys/testing.ts'

describe('public deploy keys', () => {
  test('administrators add public deploy keys, and project maintainers enable them', async ({ world }) => {
    const [mia, ann] = [await world.user(), await world.user()]
    const [one, two] = [
      await world.project({ members: [[mia, 'maintainer']] }),
      await world.project({ members: [[ann, 'maintainer']] }),
    ]
    const key = newPublicKey()
    expect((await mia.post('/deploy_keys', { title: 'robot', key })).status).toBe(403)
    const made = await world.root.post('/deploy_keys', { title: 'robot', key })
    expect(made).toMatchObject({ status: 201, json: { title: 'robot', key, projects_with_write_access: [] } })
    const { id } = made.json
    await world.root.post(`/projects/${one.id}/deploy_keys`, { title: 'other', key: newPublicKey() })
    const ids = async (query: string) =>
      (await world.root.get(`/deploy_keys?per_page=100${query}`)).json.map((row: { id: number }) => row.id)
    expect(await ids('&public=true')).toContain(id)
    expect((await ids('')).length).toBeGreaterThan((await ids('&public=true')).length)
    expect((await mia.post(`/projects/${one.id}/deploy_keys/${id}/enable`)).status).toBe(201)
    expect(await ann.post(`/projects/${two.id}/deploy_keys`, { title: 'x', key, can_push: true })).toMatchObject({
      status: 201,
      json: { id, title: 'robot', can_push: true },
    })
    const at = `/projects/${one.id}/deploy_keys/${id}`
    expect((await mia.put(at, { title: 'mine' })).status).toBe(403)
    expect(await mia.put(at, { title: 'robot', can_push: true })).toMatchObject({
      status: 200,
      json: { can_push: true },
    })
    expect(await mia.put(at, { can_push: false })).toMatchObject({ status: 200, json: { can_push: false } })
    expect(await world.root.put(at, { title: 'named' })).toMatchObject({ status: 200, json: { title: 'named' } })
  })

  test('a public deploy key without projects remains until an administrator deletes it', async ({ world }) => {
    const mia = await world.user()
    const project = await world.project({ members: [[mia, 'maintainer']] })
    const key = newPublicKey()
    const { id } = (await world.root.post('/deploy_keys', { title: 'robot', key })).json
    const at = `/projects/${project.id}/deploy_keys/${id}`
    await mia.post(`${at}/enable`)
    expect((await mia.delete(at)).status).toBe(204)
    expect((await mia.post(`${at}/enable`)).status).toBe(201)
    expect((await world.root.delete(`/deploy_keys/${id}`)).status).toBe(204)
    expect((await world.root.delete(`/deploy_keys/${id}`)).status).toBe(404)
    expect((await mia.get(`/projects/${project.id}/deploy_keys`)).json).toEqual([])
    const own = (await mia.post(`/projects/${project.id}/deploy_keys`, { title: 'own', key })).json
    // Keys added by projects are deleted by the projects.
    expect((await world.root.delete(`/deploy_keys/${own.id}`)).status).toBe(404)
  })

  test('400 for a public deploy key that exists already', async ({ world }) => {
    const key = newPublicKey()
    await world.root.post('/deploy_keys', { title: 'robot', key })
    expect(await world.root.post('/deploy_keys', { title: 'again', key })).toMatchObject({
      status: 400,
      json: { message: { fingerprint: expect.any(Array) } },
    })
    expect((await world.root.post('/deploy_keys', { title: ' ', key: newPublicKey() })).status).toBe(400)
  })
})
