import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { servicesLeft, tablesWithText } from '../../../../test/tables/hooks.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { removeProject } from '../../projects/index.ts'

const webhook = 'https://203.0.114.9/services/T1/B1/secret'

const slugs = ['slack', 'mattermost', 'discord', 'microsoft-teams', 'emails-on-push', 'pipelines-email'] as const

const needed = (slug: string) => (slug.includes('email') ? { recipients: 'ann@example.com' } : { webhook })

const flags = [
  'push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'tag_push_events',
  'pipeline_events',
  'wiki_page_events',
] as const

async function projectIn(world: World): Promise<{ id: number; at: string; services: string }> {
  const { id } = await world.project()
  return { id, at: `/projects/${id}/integrations`, services: `/projects/${id}/services` }
}

describe('integrations of a project', () => {
  test.for(slugs)('%s is enabled, read, listed, changed and disabled under both paths', async (slug, { world }) => {
    const { at, services } = await projectIn(world)
    expect((await world.root.get(`${at}/${slug}`)).status).toBe(404)
    const made = await world.root.put(`${at}/${slug}`, needed(slug))
    expect(made).toMatchObject({
      status: 200,
      json: { slug, active: true, alert_status: 'executable', disabled_until: null, title: expect.any(String) },
    })
    for (const flag of flags) expect(made.json[flag]).toBeTypeOf('boolean')
    expect((await world.root.get(`${services}/${slug}`)).json).toEqual(made.json)
    const { properties, ...basic } = made.json
    for (const path of [at, services]) expect((await world.root.get(path)).json).toEqual([basic])
    const changed = await world.root.put(`${services}/${slug}`, { branches_to_be_notified: 'protected' })
    expect(changed.json.properties).toEqual({ ...properties, branches_to_be_notified: 'protected' })
    expect((await world.root.delete(`${services}/${slug}`)).status).toBe(204)
    for (const path of [at, services]) {
      expect((await world.root.get(`${path}/${slug}`)).status).toBe(404)
      expect((await world.root.delete(`${path}/${slug}`)).status).toBe(404)
      expect((await world.root.get(path)).json).toEqual([])
    }
  })

  test('clients that send active as they read it change nothing by it', async ({ world }) => {
    const { at } = await projectIn(world)
    for (const slug of slugs) {
      const made = await world.root.put(`${at}/${slug}`, { ...needed(slug), active: true })
      expect(made).toMatchObject({ status: 200, json: { active: true } })
      expect(made.json.properties).not.toHaveProperty('active')
      const same = await world.root.put(`${at}/${slug}`, { active: true })
      expect(same.json.properties).toEqual(made.json.properties)
    }
  })

  test('flags and properties that a change does not name stay, and null or an empty text removes a property', async ({
    world,
  }) => {
    const { at } = await projectIn(world)
    const first = { push_events: false, pipeline_events: true, channel: 'general', push_channel: '#pushes' }
    const made = await world.root.put(`${at}/slack`, { ...needed('slack'), ...first, username: 'Bot' })
    expect(made.json).toMatchObject({
      push_events: false,
      issues_events: true,
      pipeline_events: true,
      confidential_issues_events: false,
      properties: { channel: 'general', push_channel: '#pushes', username: 'Bot', note_channel: null },
    })
    const changed = await world.root.put(`${at}/slack`, { channel: null, username: '', note_events: false })
    expect(changed.json).toMatchObject({ push_events: false, pipeline_events: true, note_events: false })
    expect(changed.json.properties).toMatchObject({ channel: null, username: null, push_channel: '#pushes' })
    const older = await world.root.put(`${at}/slack`, { notify_only_default_branch: false })
    expect(older.json.properties.branches_to_be_notified).toBe('all')
  })

  test('404 for an unknown name; 400 with the name for unknown, missing and invalid properties', async ({ world }) => {
    const { at } = await projectIn(world)
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await world.root.send(method, `${at}/jira`, { json: { webhook } })).status).toBe(404)
    const refused = async (slug: string, input: object, error: unknown) =>
      expect(await world.root.put(`${at}/${slug}`, input)).toMatchObject({ status: 400, json: error as object })
    await refused('slack', { push_events: true }, { error: 'webhook is missing' })
    await refused('emails-on-push', {}, { error: 'recipients is missing' })
    await refused('slack', { webhook, hook: 'x' }, { error: 'hook is unknown' })
    await refused('discord', { webhook, push_channel: 'x' }, { error: 'push_channel is unknown' })
    await refused('slack', { webhook, active: false }, { error: 'active does not have a valid value' })
    await refused('slack', { webhook, push_events: 'maybe' }, { error: 'push_events is invalid' })
    await refused(
      'slack',
      { webhook, branches_to_be_notified: 'some' },
      { error: 'branches_to_be_notified does not have a valid value' },
    )
    for (const bad of ['ftp://a.example/', 'nothing', 'http://127.0.0.1/', 'http://10.1.2.3/', ''])
      await refused('slack', { webhook: bad }, { message: { webhook: ['is not a URL to which requests may go'] } })
    await refused('slack', { webhook, channel: 'a\nb' }, { message: { channel: ['must be one name on one line'] } })
    await refused('slack', { webhook, channel: 'x'.repeat(101) }, { error: expect.stringContaining('channel') })
    for (const recipients of ['no-address', 'a@example.com b', ' , '])
      await refused('emails-on-push', { recipients }, { message: { recipients: [expect.any(String)] } })
    const many = Array.from({ length: 101 }, (_, n) => `a${n}@example.com`).join('\n')
    await refused('emails-on-push', { recipients: many }, { message: { recipients: [expect.stringContaining('100')] } })
    expect((await world.root.get(at)).json).toEqual([])
  })

  test('the webhook is in no response, audit row or event, not even its path', async ({ world }) => {
    const { at } = await projectIn(world)
    const secret = unique('hidden')
    const given = `https://ann:${secret}@203.0.114.9/${secret}?token=${secret}`
    for (const slug of slugs.slice(0, 4)) {
      const made = await world.root.put(`${at}/${slug}`, { webhook: given })
      expect(made.status).toBe(200)
      for (const answer of [made, await world.root.get(`${at}/${slug}`), await world.root.get(at)])
        expect(answer.text).not.toContain(secret)
    }
    expect(await tablesWithText(world, secret)).toEqual([])
  })

  test('two requests at once enable one integration', async ({ world }) => {
    const { at } = await projectIn(world)
    const both = await Promise.all([1, 2].map(() => world.root.put(`${at}/discord`, { webhook })))
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect((await world.root.get(at)).json).toHaveLength(1)
  })

  test('an integration is no hook of its project, under no path', async ({ world }) => {
    const { id, at } = await projectIn(world)
    const made = await world.root.put(`${at}/slack`, { webhook })
    const hook = `/projects/${id}/hooks/${made.json.id}`
    expect((await world.root.get(`/projects/${id}/hooks`)).json).toEqual([])
    for (const [method, path] of [
      ['GET', hook],
      ['PUT', hook],
      ['DELETE', hook],
      ['GET', `${hook}/events`],
      ['POST', `${hook}/test`],
      ['POST', `${hook}/replay`],
    ] as const)
      expect(
        (await world.root.send(method, path, { json: { url: webhook, since: '2026-01-01T00:00:00Z' } })).status,
      ).toBe(404)
    expect((await world.root.get(`${at}/slack`)).status).toBe(200)
  })

  test('integrations do not count as hooks, and end with their project', async ({ world }) => {
    const { id, at } = await projectIn(world)
    for (const slug of slugs) expect((await world.root.put(`${at}/${slug}`, needed(slug))).status).toBe(200)
    expect((await world.root.get(at)).json.map((each: any) => each.slug)).toEqual(slugs)
    expect((await world.root.get(`${at}?per_page=2&page=2`)).json.map((each: any) => each.slug)).toEqual(
      slugs.slice(2, 4),
    )
    await world.settings({ deletion_adjourned_period: 0 })
    expect((await world.root.delete(`/projects/${id}`)).status).toBe(202)
    await removeProject.run({ projectId: id }, await contextFor(world, null))
    expect(await servicesLeft(world, id)).toBe(0)
  })
})

describe('who may change integrations', () => {
  test('maintainers; others get 403, strangers 404 and anonymous callers 401', async ({ world }) => {
    const [developer, maintainer, stranger] = await Promise.all([1, 2, 3].map(() => world.user()))
    const { id } = await world.project({
      members: [
        [developer!, 'developer'],
        [maintainer!, 'maintainer'],
      ],
    })
    const at = `/projects/${id}/integrations`
    const statuses = async (who: Client) => [
      (await who.put(`${at}/slack`, { webhook })).status,
      (await who.get(`${at}/slack`)).status,
      (await who.get(at)).status,
      (await who.get(`${at}/slack/events`)).status,
      (await who.post(`${at}/slack/events/1/resend`)).status,
      (await who.delete(`${at}/slack`)).status,
    ]
    expect(await statuses(developer!)).toEqual([403, 403, 403, 403, 403, 403])
    expect(await statuses(stranger!)).toEqual([404, 404, 404, 404, 404, 404])
    expect(await statuses(world.anonymous)).toEqual([401, 401, 401, 401, 401, 401])
    expect(await statuses(maintainer!)).toEqual([200, 200, 200, 200, 404, 204])
  })
})
