import { describe, expect } from 'vitest'
import { type Client, test } from '../../../test/world.ts'

const basic = ({ username, token }: Client) => ({
  authorization: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`,
})

describe('GET /<path>?go-get=1', () => {
  test('go-get names the project for readers, and guesses from the path for all others', async ({ world }) => {
    const [reporter, guest, stranger] = [await world.user(), await world.user(), await world.user()]
    const parent = await world.group()
    const group = await world.group({ parent })
    const project = await world.project({
      group,
      members: [
        [reporter, 'reporter'],
        [guest, 'guest'],
      ],
    })
    const host = new URL(world.origin).host
    const named = (path: string) => `content="${host}/${path} git ${world.origin}/${path}.git"`
    const ask = (path: string, who?: Client) =>
      world.anonymous.get(`//${path}?go-get=1`, who ? { headers: basic(who) } : {})
    for (const path of [project.full_path, `${project.full_path}/pkg/inner`, `${project.full_path}/`]) {
      for (const who of [reporter, world.root]) {
        const found = await ask(path, who)
        expect(found).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
        expect(found.text).toContain(named(project.full_path))
      }
      for (const who of [undefined, guest, stranger])
        expect((await ask(path, who)).text).toContain(named(group.full_path))
    }
    const there = await ask(`${project.full_path}/x`)
    const missing = await ask(`${group.full_path}/nothing/x`)
    expect([missing.status, missing.text]).toEqual([there.status, there.text])
  })

  test('go-get works for public projects anonymously, also by a former path', async ({ world }) => {
    const project = await world.project({ visibility: 'public' })
    await world.root.put(`/projects/${project.id}`, { path: `${project.path}-2` })
    for (const path of [project.full_path, `${project.full_path}-2`])
      expect((await world.anonymous.get(`//${path}/v2?x=1&go-get=1`)).text).toContain(`${world.origin}/${path}.git"`)
  })

  test('go-get looks no deeper than projects can be nested', async ({ world }) => {
    const { status, text } = await world.anonymous.get(`//a/b${'/c'.repeat(3000)}?go-get=1`)
    expect([status, text.includes(`${world.origin}/a/b.git"`)]).toEqual([200, true])
  })

  test('go-get refuses wrong credentials, and other requests to the path are a 404', async ({ world }) => {
    const project = await world.project({ visibility: 'public' })
    const at = `//${project.full_path}`
    const headers = { authorization: `Basic ${Buffer.from('ann:wrong').toString('base64')}` }
    expect((await world.anonymous.get(`${at}?go-get=1`, { headers })).status).toBe(401)
    for (const path of [
      at,
      `${at}?go-get=0`,
      `${at}?go-get=11`,
      `//${project.path}?go-get=1`,
      `${at}/%3Cscript%3E?go-get=1`,
    ])
      expect((await world.anonymous.get(path)).status, path).toBe(404)
    expect((await world.root.send('POST', `${at}?go-get=1`)).status).toBe(404)
  })

  test('go-get names the SSH URL when only SSH is enabled', async ({ world }) => {
    const project = await world.project({ visibility: 'public' })
    await world.settings({ enabled_git_access_protocol: 'ssh' })
    const { text } = await world.anonymous.get(`//${project.full_path}?go-get=1`)
    await world.settings({ enabled_git_access_protocol: null })
    const { ssh_url_to_repo } = (await world.root.get(`/projects/${project.id}`)).json
    expect(text).toContain(`git ${ssh_url_to_repo}"`)
  })
})
