import { describe, expect } from 'vitest'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { tablesWithText } from '../../../../test/tables/hooks.ts'
import { test, unique, type World } from '../../../../test/world.ts'

const url = 'https://203.0.114.9/receive'

const bases = ['projects', 'groups'] as const

async function placeIn(world: World, base: (typeof bases)[number]): Promise<string> {
  const made = base === 'groups' ? await world.group() : await world.project()
  return `/${base}/${made.id}/hooks`
}

const recordOf = (base: (typeof bases)[number]) => ({
  id: expect.any(Number),
  url,
  created_at: expect.any(String),
  enable_ssl_verification: true,
  alert_status: 'executable',
  disabled_until: null,
  [base === 'groups' ? 'group_id' : 'project_id']: expect.any(Number),
  push_events: true,
  tag_push_events: false,
  issues_events: false,
  confidential_issues_events: false,
  note_events: false,
  confidential_note_events: false,
  merge_requests_events: false,
  job_events: false,
  pipeline_events: false,
  wiki_page_events: false,
  releases_events: false,
  repository_update_events: false,
  ...(base === 'groups' && { member_events: false, subgroup_events: false }),
  push_events_branch_filter: '',
})

describe.for(bases)('hooks of %s', (base) => {
  test('D2-HOOK-EVENTS: hooks are created, listed, read and changed, with a flag for each kind of event', async ({
    world,
  }) => {
    const hooks = await placeIn(world, base)
    const made = await world.root.post(hooks, { url })
    expect(made.status).toBe(201)
    expect(made.json).toEqual(recordOf(base))
    const at = `${hooks}/${made.json.id}`
    expect((await world.root.get(at)).json).toEqual(made.json)
    expect((await world.root.get(hooks)).json).toEqual([made.json])
    const flags = Object.keys(made.json).filter((name) => name.endsWith('_events'))
    const all = Object.fromEntries(flags.map((name) => [name, true]))
    const changed = await world.root.put(at, { url, ...all, enable_ssl_verification: false })
    expect(changed).toMatchObject({ status: 200, json: { ...all, enable_ssl_verification: false } })
    const none = Object.fromEntries(flags.map((name) => [name, false]))
    expect((await world.root.put(at, { url, ...none })).json).toMatchObject({ ...none, enable_ssl_verification: false })
  })

  test('D2-HOOK-WIKI-CREATE D2-HOOK-WIKI-UPDATE: both names of the flag of wiki pages are accepted', async ({
    world,
  }) => {
    const hooks = await placeIn(world, base)
    for (const name of ['wiki_page_events', 'wiki_events']) {
      const made = await world.root.post(hooks, { url, [name]: true })
      expect(made.json.wiki_page_events).toBe(true)
      const changed = await world.root.put(`${hooks}/${made.json.id}`, { url, [name]: false })
      expect(changed.json.wiki_page_events).toBe(false)
    }
  })

  test('null removes the branch filter of a hook, as an empty text does', async ({ world }) => {
    const hooks = await placeIn(world, base)
    const made = await world.root.post(hooks, { url, push_events_branch_filter: null })
    expect(made).toMatchObject({ status: 201, json: { push_events_branch_filter: '' } })
    const at = `${hooks}/${made.json.id}`
    for (const none of ['', null]) {
      const narrowed = await world.root.put(at, { url, push_events_branch_filter: 'stable-*' })
      expect(narrowed.json.push_events_branch_filter).toBe('stable-*')
      expect((await world.root.put(at, { url })).json.push_events_branch_filter).toBe('stable-*')
      expect(await world.root.put(at, { url, push_events_branch_filter: none })).toMatchObject({
        status: 200,
        json: { push_events_branch_filter: '' },
      })
    }
  })

  test('D2-HOOK-URL-REQUIRED: 400 without a URL, on creation and on change', async ({ world }) => {
    const hooks = await placeIn(world, base)
    const { id } = (await world.root.post(hooks, { url })).json
    const missing = { status: 400, json: { error: 'url is missing' } }
    expect(await world.root.post(hooks, {})).toMatchObject(missing)
    expect(await world.root.put(`${hooks}/${id}`, { push_events: false })).toMatchObject(missing)
  })

  test('422 for a URL or a branch filter that no hook can have', async ({ world }) => {
    const hooks = await placeIn(world, base)
    const urls = ['ftp://a.example/', 'nothing', 'http://', 'http://127.0.0.1/', 'http://[::1]:9/', 'http://10.1.2.3/']
    for (const bad of [...urls, `https://a.example/${'x'.repeat(3000)}`])
      expect(await world.root.post(hooks, { url: bad })).toMatchObject({
        status: 422,
        json: { error: 'Invalid url given' },
      })
    for (const filter of ['a b', 'a..b', '/a', 'x'.repeat(4001), '~*'])
      expect(await world.root.post(hooks, { url, push_events_branch_filter: filter })).toMatchObject({
        status: 422,
        json: { error: 'Invalid branch filter given' },
      })
    for (const filter of ['release/*', '*', 'main', ''])
      expect((await world.root.post(hooks, { url, push_events_branch_filter: filter })).json).toMatchObject({
        push_events_branch_filter: filter,
      })
  })

  test('D2-HOOK-DELETE-IDEMPOTENT: deleting a hook returns the hook, and 404 when it is gone', async ({ world }) => {
    const hooks = await placeIn(world, base)
    const made = (await world.root.post(hooks, { url })).json
    const { id } = made
    expect(await world.root.delete(`${hooks}/${id}`)).toMatchObject({ status: 200, json: made })
    const gone = { status: 404, json: { message: '404 Not found' } }
    expect(await world.root.delete(`${hooks}/${id}`)).toMatchObject(gone)
    expect(await world.root.get(`${hooks}/${id}`)).toMatchObject(gone)
    expect(await world.root.put(`${hooks}/${id}`, { url })).toMatchObject(gone)
  })

  test('412 when a hook changed after If-Unmodified-Since of its deletion', async ({ world }) => {
    const hooks = await placeIn(world, base)
    const at = `${hooks}/${(await world.root.post(hooks, { url })).json.id}`
    const since = (time: string) => ({ headers: { 'if-unmodified-since': time } })
    expect(await world.root.delete(at, since('Thu, 01 Jan 1970 00:00:00 GMT'))).toMatchObject({
      status: 412,
      json: { message: '412 Precondition Failed' },
    })
    expect((await world.root.get(at)).status).toBe(200)
    expect((await world.root.delete(at, since(new Date(Date.now() + 60_000).toUTCString()))).status).toBe(200)
    expect((await world.root.delete(at, since('Thu, 01 Jan 1970 00:00:00 GMT'))).status).toBe(404)
  })

  test('a hook is not found under another project or group', async ({ world }) => {
    const [hooks, others] = [await placeIn(world, base), await placeIn(world, base)]
    const { id } = (await world.root.post(hooks, { url })).json
    for (const [method, tail] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['GET', '/events'],
      ['POST', '/test'],
    ] as const)
      expect((await world.root.send(method, `${others}/${id}${tail}`, { json: { url } })).status).toBe(404)
    expect((await world.root.get(`/hooks/${id}/events`)).status).toBe(404)
    expect((await world.root.get(`${hooks}/${id}`)).status).toBe(200)
  })

  test('D2-HOOK-TOKEN-HIDDEN: token and credentials of the URL are in no response, audit row or event', async ({
    world,
  }) => {
    const hooks = await placeIn(world, base)
    const secret = unique('hidden')
    const made = await world.root.post(hooks, { url: `https://ann:${secret}@203.0.114.9/x`, token: secret })
    expect(made.json.url).toBe('https://*****:*****@203.0.114.9/x')
    const at = `${hooks}/${made.json.id}`
    const changed = await world.root.put(at, { url: made.json.url, token: `${secret}-2` })
    for (const answer of [made, changed, await world.root.get(at), await world.root.get(hooks)])
      expect(answer.text).not.toContain(secret)
    expect(await tablesWithText(world, secret)).toEqual([])
  })

  test('the URL of a hook is shown as it was written, unless it has credentials or characters that are encoded', async ({
    world,
  }) => {
    const hooks = await placeIn(world, base)
    const written = [
      'https://203.0.114.9',
      'HTTPS://203.0.114.9:443/Receive',
      'https://203.0.114.9/a/../{b}?c="d"&e=f@g',
    ]
    for (const text of written) {
      const made = await world.root.post(hooks, { url: text })
      expect(made).toMatchObject({ status: 201, json: { url: text } })
      expect(await world.root.put(`${hooks}/${made.json.id}`, { url })).toMatchObject({ status: 200, json: { url } })
      expect((await world.root.put(`${hooks}/${made.json.id}`, { url: ` ${text} ` })).json.url).toBe(text)
      expect((await world.root.get(`${hooks}/${made.json.id}`)).json.url).toBe(text)
    }
    for (const [text, shown] of [
      ['https://ann@203.0.114.9', 'https://*****:*****@203.0.114.9/'],
      ['https://203.0.114.9?to=ann@b', 'https://203.0.114.9/?to=ann@b'],
      ['https://203.0.114.9/a b', 'https://203.0.114.9/a%20b'],
    ] as const)
      expect((await world.root.post(hooks, { url: text })).json.url).toBe(shown)
  })

  test('400 for a token with a line break, or of more than 2048 characters', async ({ world }) => {
    const hooks = await placeIn(world, base)
    for (const token of ['a\nb', 'a\r\nX-Other: b', 'snow ☃', 'x'.repeat(2049)])
      expect((await world.root.post(hooks, { url, token })).status).toBe(400)
    const made = await world.root.post(hooks, { url, token: 'x'.repeat(2048) })
    expect(made.status).toBe(201)
    await world.root.delete(`${hooks}/${made.json.id}`)
  })

  test('the 101st hook is refused', async ({ world }) => {
    const hooks = await placeIn(world, base)
    for (let count = 0; count < 100; count++) await world.root.post(hooks, { url })
    expect(await world.root.post(hooks, { url })).toMatchObject({
      status: 400,
      json: { message: { base: [`Maximum number of ${base.slice(0, -1)} hooks (100) exceeded`] } },
    })
  })
})

describe('who may change hooks', () => {
  test('maintainers of a project and owners of a group see hooks; others get 403, and strangers 404', async ({
    world,
  }) => {
    const [developer, maintainer, owner, stranger] = await Promise.all([1, 2, 3, 4].map(() => world.user()))
    const group = await world.group({
      members: [
        [developer!, 'developer'],
        [maintainer!, 'maintainer'],
        [owner!, 'owner'],
      ],
    })
    const project = await world.project({ group })
    const status = async (who: typeof owner, path: string) => (await who!.get(path)).status
    const [ofProject, ofGroup] = [`/projects/${project.id}/hooks`, `/groups/${group.id}/hooks`]
    expect(await Promise.all([developer, maintainer, owner, stranger].map((who) => status(who, ofProject)))).toEqual([
      403, 200, 200, 404,
    ])
    expect(await Promise.all([developer, maintainer, owner, stranger].map((who) => status(who, ofGroup)))).toEqual([
      403, 403, 200, 404,
    ])
    expect((await world.anonymous.get(ofProject)).status).toBe(401)
  })

  test('D2-HOOK-NOT-SYSTEM: system hooks are for administrators, and separate from hooks of projects', async ({
    world,
  }) => {
    const ann = await world.user()
    expect((await ann.get('/hooks')).status).toBe(403)
    expect((await ann.post('/hooks', { url })).status).toBe(403)
    const made = await world.root.post('/hooks', { url, push_events: true, token: 'x' })
    expect(made).toMatchObject({
      status: 201,
      json: {
        url,
        push_events: true,
        tag_push_events: false,
        merge_requests_events: false,
        repository_update_events: true,
        enable_ssl_verification: true,
      },
    })
    const project = await world.project()
    expect((await world.root.get(`/projects/${project.id}/hooks`)).json).toEqual([])
    expect((await world.root.get('/hooks')).json.map(({ id }: { id: number }) => id)).toContain(made.json.id)
    const at = `/hooks/${made.json.id}`
    expect((await world.root.put(at, { url, push_events: false })).json).toMatchObject({ push_events: false })
    const old = { headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' } }
    expect((await world.root.delete(at, old)).status).toBe(412)
    expect((await world.root.delete(at)).status).toBe(200)
    expect((await world.root.delete(at)).status).toBe(404)
  })

  test('GET of a system hook sends an example and returns it', async ({ world }) => {
    await using receiver = await HookReceiver.start()
    const made = await world.root.post('/hooks', { url: receiver.url, token: 'sesame' })
    const at = `/hooks/${made.json.id}`
    const tested = await world.root.get(at)
    expect(tested.json).toMatchObject({
      event_name: 'project_create',
      name: 'Ruby',
      path: 'ruby',
      project_id: 1,
      owner_name: 'Someone',
      owner_email: 'example@example.com',
    })
    await world.runJobs()
    const { headers, json } = await receiver.request(({ json }) => json.path === 'ruby')
    expect(json).toMatchObject({ event_name: 'project_create', project_id: 1 })
    expect(headers).toMatchObject({ 'x-service-event': 'System Hook', 'x-gitlab-token': 'sesame' })
    await world.root.delete(at)
  })

  test.for([
    ['an empty text', ''],
    ['null', null],
  ] as const)('a hook whose token is set to %s sends none', async ([, none], { world }) => {
    await using receiver = await HookReceiver.start()
    const hook = { url: receiver.url, token: 'sesame' }
    const at = `/hooks/${(await world.root.post('/hooks', hook)).json.id}`
    expect((await world.root.put(at, { ...hook, token: none })).status).toBe(200)
    await world.root.get(at)
    await world.runJobs()
    const { headers } = await receiver.request(({ json }) => json.path === 'ruby')
    expect(headers).not.toHaveProperty('x-gitlab-token')
    await world.root.delete(at)
  })

  test('a hook that is sent to another host sends its token there only if that is given again', async ({ world }) => {
    await using first = await HookReceiver.start()
    await using second = await HookReceiver.start('127.0.0.2')
    const hook = { url: first.url, token: 'sesame' }
    const at = `/hooks/${(await world.root.post('/hooks', hook)).json.id}`
    await world.runJobs()
    const tokenAt = async (receiver: HookReceiver, change: object) => {
      expect((await world.root.put(at, change)).status).toBe(200)
      await world.root.get(at)
      return (await receiver.request(({ json }) => json.path === 'ruby')).headers['x-gitlab-token']
    }
    expect(await tokenAt(first, { url: `${first.url}?other=path` })).toBe('sesame')
    expect(await tokenAt(second, { url: second.url })).toBeUndefined()
    await world.root.delete(at)
  })

  test('GET of a system hook also returns the hook, as the list does, after each change of it', async ({ world }) => {
    const flags = { push_events: true, tag_push_events: true, merge_requests_events: true }
    const sent = { url, ...flags, repository_update_events: false, enable_ssl_verification: false }
    const at = `/hooks/${(await world.root.post('/hooks', sent)).json.id}`
    const listed = async () =>
      (await world.root.get('/hooks?per_page=100')).json.find(({ id }: { id: number }) => at === `/hooks/${id}`)
    expect((await world.root.get(at)).json).toMatchObject({ ...(await listed()), ...sent })
    await world.root.put(at, { ...sent, push_events: false })
    expect((await world.root.get(at)).json).toMatchObject({ ...(await listed()), ...sent, push_events: false })
    await world.root.delete(at)
  })
})
