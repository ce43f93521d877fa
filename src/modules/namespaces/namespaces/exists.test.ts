import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'

describe('GET /namespaces/:id/exists', () => {
  test('GET /namespaces/:id/exists reports taken names, in any case, with suggestions', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group()
    const ask = async (path: string) => (await ann.get(`/namespaces/${encodeURIComponent(path)}/exists`)).json
    for (const path of [group.path, group.path.toUpperCase(), ann.username])
      expect(await ask(path)).toEqual({ exists: true, suggests: [`${path}1`] })
    await world.root.post('/groups', { name: 'x', path: `${group.path}1` })
    expect(await ask(group.path)).toEqual({ exists: true, suggests: [`${group.path}2`] })
    expect(await ask(unique('free'))).toEqual({ exists: false, suggests: [] })
    // The old path of a group is free and can be taken.
    await world.root.put(`/groups/${group.id}`, { path: unique('moved') })
    expect(await ask(group.path)).toEqual({ exists: false, suggests: [] })
  })

  test('exists with parent_id covers only the subgroups of a visible group', async ({ world }) => {
    const ann = await world.user()
    const parent = await world.group({ members: [[ann, 'guest']] })
    const child = await world.group({ parent })
    const project = await world.project({ group: parent })
    const ask = (path: string, parentId: number, who = ann) =>
      who.get(`/namespaces/${encodeURIComponent(path)}/exists?parent_id=${parentId}`)
    expect((await ask(child.path, parent.id)).json).toEqual({ exists: true, suggests: [`${child.path}1`] })
    expect((await ask(project.path, parent.id)).json).toMatchObject({ exists: true })
    expect((await ask(unique('free'), parent.id)).json).toEqual({ exists: false, suggests: [] })
    expect((await ann.get(`/namespaces/${child.path}/exists`)).json).toMatchObject({ exists: false })
    expect((await ann.get(`/namespaces/${encodeURIComponent(child.full_path)}/exists`)).json).toEqual({
      exists: false,
      suggests: [],
    })
    expect(await ask(child.path, parent.id, await world.user())).toMatchObject({
      status: 404,
      json: { message: '404 Namespace Not Found' },
    })
    expect((await ask(child.path, 0)).status).toBe(404)
  })

  test('401 for GET /namespaces/:id/exists without a token', async ({ world }) => {
    expect((await world.anonymous.get('/namespaces/root/exists')).status).toBe(401)
  })
})
