import { expect } from 'vitest'
import { beginRequest } from '../../../test/begun-request.ts'
import { Client, test, unique } from '../../../test/world.ts'
import { askToken, claimsOf, digestOf, imageAt, Registry } from './testing.ts'

test('bytes of a layer that arrive after their sender was removed, blocked or lost the token are refused, whatever the request', async ({
  world,
}) => {
  const [kept, removed, blocked, owner] = await Promise.all([world.user(), world.user(), world.user(), world.user()])
  const members = [kept, removed, blocked, owner].map((who): [Client, 'developer'] => [who, 'developer'])
  const project = await world.project({ members })
  const scopes = ['read_registry', 'write_registry']
  const token = (await world.root.post(`/users/${owner.id}/personal_access_tokens`, { name: 'registry', scopes })).json
  const limited = new Client(world.origin, { id: owner.id, username: owner.username, token: token.token })
  const late = async (who: Client, method: 'PATCH' | 'PUT' | 'POST') => {
    const registry = await Registry.open(who, imageAt(project))
    const content = unique('late layer')
    const uploads = `/v2/${registry.name}/blobs/uploads/`
    const path = method === 'POST' ? uploads : (await registry.send('POST', 'blobs/uploads/')).headers['location']!
    const query = method === 'PATCH' ? '' : `?digest=${digestOf(content)}`
    const sent = beginRequest(`${world.origin}${path}${query}`, {
      method,
      headers: { authorization: `Bearer ${registry.token}`, 'content-type': 'application/octet-stream' },
    })
    await sent.begun
    sent.send(content.slice(0, 4))
    return async () => {
      const { status } = await sent.complete(content.slice(4))
      const root = await Registry.open(world.root, imageAt(project))
      const has = (await root.send('HEAD', `blobs/${digestOf(content)}`)).status === 200
      const range = method === 'PATCH' ? (await root.send('GET', path)).headers['range'] : undefined
      return { method, status, has, range }
    }
  }
  const methods = ['PATCH', 'PUT', 'POST'] as const
  const all = (who: Client) => Promise.all(methods.map((method) => late(who, method)))
  const [keeps, ...loses] = await Promise.all([all(kept), all(removed), all(blocked), all(limited)])
  await world.root.delete(`/projects/${project.id}/members/${removed.id}`)
  await world.root.post(`/users/${blocked.id}/block`)
  await world.root.delete(`/personal_access_tokens/${token.id}`)
  for (const each of loses)
    expect(await Promise.all(each.map((complete) => complete()))).toEqual([
      { method: 'PATCH', status: 401, has: false, range: '0-0' },
      { method: 'PUT', status: 401, has: false },
      { method: 'POST', status: 401, has: false },
    ])
  expect(await Promise.all(keeps.map((complete) => complete()))).toMatchObject([
    { status: 202, has: false },
    { status: 201, has: true },
    { status: 201, has: true },
  ])
})

test('a layer is refused whose project is renamed while it arrives, and is pushed by the new name', async ({
  world,
}) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'maintainer']] })
  const registry = await Registry.open(ann, imageAt(project))
  const content = unique('late layer')
  const location = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
  const sent = beginRequest(`${world.origin}${location}?digest=${digestOf(content)}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${registry.token}`, 'content-type': 'application/octet-stream' },
  })
  await sent.begun
  sent.send(content.slice(0, 4))
  const path = unique('renamed')
  expect((await ann.put(`/projects/${project.id}`, { path })).status).toBe(200)
  expect((await sent.complete(content.slice(4))).status).toBe(401)
  const again = await askToken(ann, [`repository:${imageAt(project)}:pull,push`])
  expect(claimsOf(again.json.token).access).toMatchObject([{ actions: ['pull'] }])
  const now = await Registry.open(ann, imageAt({ full_path: project.full_path.replace(/[^/]+$/, path) }))
  await now.push(content)
  expect((await now.send('HEAD', `blobs/${digestOf(content)}`)).status).toBe(200)
})
