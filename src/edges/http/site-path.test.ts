import { expect, test } from 'vitest'
import { World } from '../../../test/world.ts'

test('an external URL with a path is part of links, and of requests', async () => {
  await using world = await World.start({ STITHY_EXTERNAL_URL: 'https://example.com/git' })
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'maintainer']] })
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(world.origin + path, { headers: { 'private-token': ann.token!, ...headers } })
  const record = await (await get(`/git/api/v4/projects/${encodeURIComponent(project.full_path)}`)).json()
  expect(record).toMatchObject({ web_url: `https://example.com/git/${project.full_path}` })
  const list = await get('/git/api/v4/projects?membership=true&per_page=1')
  expect(list.headers.get('link')).toContain('<https://example.com/git/api/v4/projects?')
  for (const home of ['/git', '/git/', '/git?x=1'])
    expect((await get(home, { accept: 'text/html' })).status, home).toBe(200)
  const page = await (await get('/git/-/docs/')).text()
  const loaded = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path!)
  expect(loaded).toHaveLength(4)
  for (const path of loaded) expect((await get(path)).status, path).toBe(200)
  expect(await (await get('/git/-/docs/start.js')).text()).toContain("url: '/git/openapi.json'")
  expect(await (await get('/git/openapi.json')).json()).toMatchObject({ servers: [{ url: '/git/api/v4' }] })
  const refs = `/git/${project.full_path}.git/info/refs?service=git-upload-pack`
  const authorization = `Basic ${Buffer.from(`${ann.username}:${ann.token}`).toString('base64')}`
  expect((await get(refs, { authorization })).status).toBe(200)
  expect((await get('/gitx/api/v4/user')).status).toBe(404)
})
