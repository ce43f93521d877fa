import { describe, expect } from 'vitest'
import { type Client, test, World } from '../../../../test/world.ts'
import { createSnippet } from './testing.ts'

const idsOf = async (who: Client, path: string): Promise<number[]> =>
  (await who.get(`${path}?per_page=100`)).json.map(({ id }: { id: number }) => id)

describe('personal snippets', () => {
  test('a personal snippet is created, read, changed and deleted by its author', async ({ world }) => {
    const ann = await world.user()
    const { id, at, record } = await createSnippet(world, { author: ann, content: 'one\r\n', visibility: 'internal' })
    const page = `${world.origin}/-/snippets/${id}`
    expect(record).toMatchObject({
      id,
      project_id: null,
      visibility: 'internal',
      web_url: page,
      raw_url: `${page}/raw`,
      http_url_to_repo: `${world.origin}/snippets/${id}.git`,
      files: [{ path: 'a.rb', raw_url: `${page}/raw/master/a.rb` }],
    })
    expect((await ann.get(at)).json).toEqual(record)
    expect((await ann.get(`${at}/raw`)).text).toBe('one\r\n')
    const changed = await ann.put(at, { title: 'Other', files: [{ action: 'create', file_path: 'b', content: 'b' }] })
    expect(changed).toMatchObject({ status: 200, json: { title: 'Other', files: [{ path: 'a.rb' }, { path: 'b' }] } })
    expect((await ann.get(`${at}/files/master/b/raw`)).text).toBe('b')
    expect((await ann.delete(at)).status).toBe(204)
    expect(await ann.get(at)).toMatchObject({ status: 404, json: { message: '404 Snippet Not Found' } })
  })

  test('D2-SNIPPET-VISIBILITY: private is for the creator, internal for users, public for everyone', async ({
    world,
  }) => {
    const ann = await world.user()
    const audiences: Record<string, Client> = {
      creator: ann,
      administrator: world.root,
      user: await world.user(),
      external: await world.user({ external: true }),
      anonymous: world.anonymous,
    }
    const readers = {
      private: ['creator', 'administrator'],
      internal: ['creator', 'administrator', 'user'],
      public: ['creator', 'administrator', 'user', 'external', 'anonymous'],
    }
    for (const [visibility, may] of Object.entries(readers)) {
      const { id, at } = await createSnippet(world, { author: ann, visibility, title: `A ${visibility} one` })
      for (const [name, who] of Object.entries(audiences)) {
        const status = may.includes(name) ? 200 : 404
        for (const path of [at, `${at}/raw`, `${at}/files/master/a.rb/raw`])
          expect((await who.get(path)).status, `${name} ${visibility} ${path}`).toBe(status)
        const write = name === 'anonymous' ? 401 : name === 'administrator' ? 200 : may.includes(name) ? 403 : 404
        if (name !== 'creator') expect((await who.put(at, { title: 'x' })).status, `${name} ${visibility}`).toBe(write)
        if (name !== 'anonymous')
          expect((await idsOf(who, '/snippets')).includes(id), `${name} ${visibility}`).toBe(name === 'creator')
      }
    }
  })

  test('lists have own, public and all snippets, by time of creation', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = await world.project({ visibility: 'public' })
    const own = await createSnippet(world, { author: ann, visibility: 'private' })
    const open = await createSnippet(world, { author: ann, visibility: 'public' })
    const ofProject = await createSnippet(world, { project, visibility: 'public' })
    expect(await idsOf(ann, '/snippets')).toEqual([open.id, own.id])
    expect(await idsOf(bob, '/snippets')).toEqual([])
    const shown = await idsOf(bob, '/snippets/public')
    expect(shown).toContain(open.id)
    expect(shown).not.toContain(ofProject.id)
    expect((await bob.get('/snippets/all')).status).toBe(403)
    expect(await idsOf(world.root, '/snippets/all')).toEqual(expect.arrayContaining([ofProject.id, open.id, own.id]))
    const before = await ann.get(`/snippets?created_before=${open.record.created_at}`)
    expect(before.json.map(({ id }: { id: number }) => id)).toEqual([own.id])
    const later = new Date(Date.parse(open.record.created_at) + 1).toISOString()
    expect((await ann.get(`/snippets?created_after=${later}`)).json).toEqual([])
  })

  test('external users create no personal snippets', async ({ world }) => {
    const external = await world.user({ external: true })
    const answer = await external.post('/snippets', { title: 'x', file_name: 'x', content: 'x' })
    expect(answer.status).toBe(403)
  })

  test('a new personal snippet has the visibility default_snippet_visibility', async () => {
    await using world = await World.start()
    const create = async () =>
      (await world.root.post('/snippets', { title: 'x', file_name: 'x', content: 'x' })).json.visibility
    expect(await create()).toBe('private')
    await world.settings({ default_snippet_visibility: 'internal' })
    expect(await create()).toBe('internal')
  })

  test('administrators see which client created a personal snippet', async ({ world }) => {
    const ann = await world.user()
    const { at } = await createSnippet(world, { author: ann })
    expect((await world.root.get(`${at}/user_agent_detail`)).json).toMatchObject({ ip_address: expect.any(String) })
    expect((await ann.get(`${at}/user_agent_detail`)).status).toBe(403)
  })

  test('personal snippets end with the account; those of projects go to the ghost user unless hard_delete', async () => {
    await using world = await World.start()
    await world.runJobs()
    for (const hard of [false, true]) {
      const ann = await world.user()
      const project = await world.project({ visibility: 'public', members: [[ann, 'reporter']] })
      const own = await createSnippet(world, { author: ann, visibility: 'public' })
      const { at } = await createSnippet(world, { author: ann, project, visibility: 'public' })
      await world.root.delete(`/users/${ann.id}?hard_delete=${hard}`)
      for (const path of [own.at, `${own.at}/raw`]) expect((await world.root.get(path)).status).toBe(404)
      await expect.poll(() => world.jobs('%')).toEqual([])
      const { status, json } = await world.root.get(at)
      expect(hard ? status : json.author.username).toBe(hard ? 404 : 'ghost')
      expect((await world.root.get(`${at}/raw`)).status).toBe(hard ? 404 : 200)
    }
  })
})
