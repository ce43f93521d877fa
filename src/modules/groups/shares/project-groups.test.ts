import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'

describe('GET /projects/:id/groups', () => {
  test('project groups are the ancestors, and with_shared adds invited groups', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group({ visibility: 'public' })
    const inner = await world.group({ visibility: 'public', parent: top })
    const project = await world.project({ visibility: 'public', group: inner })
    const [open, secret] = [await world.group({ visibility: 'public' }), await world.group()]
    await world.root.post(`/projects/${project.id}/share`, { group_id: open.id, group_access: 10 })
    await world.root.post(`/projects/${project.id}/share`, { group_id: secret.id, group_access: 30 })
    const ids = async (query = '', who: Client = ann) =>
      (await who.get(`/projects/${project.id}/groups${query}`)).json.map(({ id }: { id: number }) => id)
    expect(await ids()).toEqual([top.id, inner.id])
    expect(await ids('', world.anonymous)).toEqual([top.id, inner.id])
    expect(await ids('?with_shared=true')).toEqual([top.id, inner.id, open.id])
    expect(await ids('?with_shared=true', world.anonymous)).toEqual([top.id, inner.id, open.id])
    expect(await ids('?with_shared=true&shared_min_access_level=20', world.root)).toEqual([top.id, inner.id, secret.id])
    for (const name of ['skip_groups[]', 'skip_groups']) expect(await ids(`?${name}=${top.id}`)).toEqual([inner.id])
    expect(await ids(`?search=${top.path}`)).toEqual([top.id])
    const [first] = (await ann.get(`/projects/${project.id}/groups`)).json
    expect(first).toEqual({
      id: top.id,
      name: top.path,
      full_name: top.path,
      full_path: top.full_path,
      avatar_url: null,
      web_url: `${world.origin}/groups/${top.full_path}`,
    })
  })

  test('maintainers also see invited groups that are otherwise hidden from them', async ({ world }) => {
    const [boss, dev] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [boss, 'maintainer'],
        [dev, 'developer'],
      ],
    })
    const secret = await world.group()
    await world.root.post(`/projects/${project.id}/share`, { group_id: secret.id, group_access: 30 })
    const ids = async (query: string, who: Client) =>
      (await who.get(`/projects/${project.id}/groups?with_shared=true${query}`)).json.map(
        ({ id }: { id: number }) => id,
      )
    expect(await ids('', boss)).toContain(secret.id)
    expect(await ids('&shared_visible_only=true', boss)).not.toContain(secret.id)
    expect(await ids('', dev)).not.toContain(secret.id)
  })

  test('project groups are empty for a personal project, and 404 for hidden ones', async ({ world }) => {
    const [ann, stranger] = [await world.user(), await world.user()]
    const { id } = (await ann.post('/projects', { path: 'mine' })).json
    expect(await ann.get(`/projects/${id}/groups`)).toMatchObject({ status: 200, json: [] })
    expect((await stranger.get(`/projects/${id}/groups`)).status).toBe(404)
    expect((await world.anonymous.get(`/projects/${id}/groups`)).status).toBe(404)
  })
})
