import { describe, expect } from 'vitest'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { type Crafted, craft, runGroupImports, upload } from '../testing.ts'

const at = '2019-06-07T08:00:00.123Z'
const times = { created_at: at, updated_at: at }

const archiveOf = (group: object | string, more: readonly Crafted[]) =>
  craft([
    { name: './VERSION', content: '0.2.4\n' },
    { name: './group.json', content: typeof group === 'string' ? group : JSON.stringify(group) },
    ...more,
  ])

async function imported(world: World, group: object | string, who: Client, more: readonly Crafted[] = []) {
  const path = unique('imported')
  expect((await upload(who, archiveOf(group, more), { name: path, path }, '/groups/import')).status).toBe(202)
  await runGroupImports(world)
  const { id } = (await who.get(`/groups/${path}`)).json
  return { path, get: async (below: string) => (await who.get(`/groups/${id}${below}`)).json }
}

/** A group as the reference product exports it, with records of every relation, some of which have no place here. */
function treeOf(ann: Client) {
  const user = { id: 11, username: ann.username, email: `${ann.username}@example.com` }
  const label = { id: 5, title: 'bug', color: '#ff0000', type: 'GroupLabel', ...times, priorities: [{ priority: 2 }] }
  const notes = [
    { id: 1, note: 'By a member', author_id: 11, author: { name: 'Ann' }, system: false, ...times },
    { id: 2, note: 'Gone', author_id: 99, author: { name: 'Gone *Person*' }, system: false, ...times },
    { id: 3, note: 'x\0y', author_id: 11, system: false, ...times },
  ]
  return {
    name: 'Old name',
    path: 'old-path',
    description: 'From elsewhere',
    visibility_level: 20,
    project_creation_level: 1,
    subgroup_creation_level: 0,
    request_access_enabled: false,
    members: [{ access_level: 50, user, ...times }],
    labels: [label],
    milestones: [{ iid: 4, title: 'Soon', state: 'active', due_date: '2030-01-01', ...times, events: [{}] }],
    badges: [{ link_url: 'https://example.com', image_url: 'https://example.com/a.png', ...times }],
    boards: [
      {
        name: 'Board',
        ...times,
        milestone: { title: 'Soon' },
        lists: [{ label, position: 0, ...times }, { list_type: 'closed' }, { milestone: { title: 'Never' }, ...times }],
        board_labels: [{ label }],
      },
      { name: 'Narrow', ...times, labels: [label], board_assignee: { assignee_id: 11 } },
      { name: 'Of a stranger', ...times, board_assignee: { assignee_id: 99 } },
    ],
    variables: [{ key: 'SECRET' }, { key: 'OTHER' }],
    epics: [
      {
        id: 1,
        iid: 1,
        title: 'Second child',
        author_id: 11,
        state_id: 'opened',
        parent_id: 3,
        relative_position: 9,
        ...times,
      },
      {
        id: 2,
        iid: 2,
        title: 'First child',
        author_id: 99,
        state: 'opened',
        parent_id: 3,
        relative_position: -9,
        ...times,
      },
      {
        id: 3,
        iid: 7,
        title: 'Parent',
        description: 'Text',
        author_id: 11,
        state_id: 2,
        closed_at: at,
        closed_by_id: 11,
        confidential: true,
        start_date_is_fixed: true,
        start_date_fixed: '2020-01-02',
        ...times,
        label_links: [{ label }],
        resource_label_events: [{ action: 1, user_id: 11, label, created_at: at }],
        resource_state_events: [{ state: 'closed', user_id: 11, created_at: at }],
        award_emoji: [{ name: 'tada', user_id: 11, ...times }],
        notes,
      },
      { id: 4, iid: 8, title: 'x'.repeat(300), author_id: 11, state: 'opened', ...times, notes },
    ],
    children: [
      {
        name: 'Sub',
        path: 'sub',
        visibility_level: 10,
        members: [{ access_level: 30, user, ...times }],
        epics: [
          {
            iid: 1,
            title: 'Lower',
            author_id: 11,
            state: 'opened',
            ...times,
            parent: { iid: 7, title: 'Parent' },
            label_links: [{ label }, { label: { title: 'of no group', color: '#00ff00', ...times } }],
          },
        ],
        children: [{ name: 'Lowest', path: 'lowest', visibility_level: 0 }],
      },
      { path: 'without-name' },
    ],
  }
}

describe('group.json of the reference product', () => {
  test('D2-GROUP-IMPORT-PARENT everything that has a place is imported, and a mail tells the rest', async ({
    world,
  }) => {
    const [ann, importer] = [await world.user(), await world.user({ admin: true })]
    const { get, path } = await imported(world, treeOf(ann), importer)
    expect(await get('')).toMatchObject({
      path,
      description: 'From elsewhere',
      visibility: 'private',
      project_creation_level: 'maintainer',
      request_access_enabled: false,
    })
    expect((await get('/members')).map(({ id }: { id: number }) => id).toSorted()).toEqual(
      [ann.id, importer.id].toSorted(),
    )
    expect(await get('/labels')).toMatchObject([{ name: 'bug', color: '#ff0000' }])
    expect(await get('/milestones')).toMatchObject([{ iid: 4, title: 'Soon', due_date: '2030-01-01' }])
    expect(await get('/badges')).toMatchObject([{ link_url: 'https://example.com' }])
    expect(await get('/boards')).toMatchObject([
      { name: 'Board', milestone: { title: 'Soon' }, labels: [{ name: 'bug' }], lists: [{ label: { name: 'bug' } }] },
      { name: 'Narrow', labels: [{ name: 'bug' }], assignee: { id: ann.id } },
      { name: 'Of a stranger', labels: [], assignee: null },
    ])
    expect(await get('/epics/7')).toMatchObject({
      title: 'Parent',
      state: 'closed',
      confidential: true,
      author: { id: ann.id },
      labels: ['bug'],
      start_date_fixed: '2020-01-02',
      closed_at: at,
    })
    const children = await get('/epics/7/epics')
    expect(children.map(({ title, author }: any) => [title, author.id])).toEqual([
      ['First child', importer.id],
      ['Second child', ann.id],
      ['Lower', ann.id],
    ])
    expect((await get('/epics/7/notes?sort=asc')).map(({ body }: { body: string }) => body)).toEqual([
      'By a member',
      'Gone\n\n *By Gone  Person  on 2019-06-07 08:00:00 UTC (imported from a group archive)*',
    ])
    expect(await get('/epics/7/award_emoji')).toMatchObject([{ name: 'tada', user: { id: ann.id } }])
    expect(await get('/epics/7/resource_state_events')).toMatchObject([{ state: 'closed', user: { id: ann.id } }])
    const [sub] = await get('/subgroups')
    expect(sub).toMatchObject({ name: 'Sub', path: 'sub', visibility: 'private' })
    const below = async (at: string) => (await importer.get(`/groups/${sub.id}${at}`)).json
    expect(await below('/epics/1')).toMatchObject({ title: 'Lower', parent_iid: 7, labels: ['bug', 'of no group'] })
    expect(await below('/subgroups')).toMatchObject([{ name: 'Lowest' }])
    const mail = (await mailsTo(world, `${importer.username}@example.com`)).at(-1)!
    for (const line of [
      'variables: 2',
      'children: 1',
      'epics: 1',
      'epic_notes: 1',
      'board_lists: 1',
      'board_assignees: 1',
    ])
      expect(mail.body).toContain(line)
  })

  test.for(['avatar/a.png', 'avatar/uploads/-/system/group/avatar/7/a.png'])(
    'the avatar is the first file of its folder: %s',
    async (name, { world }) => {
      const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(unique('picture'))])
      const group = { name: 'Shown', path: 'shown', visibility_level: 20 }
      const { get } = await imported(world, group, world.root, [{ name: `./${name}`, content: picture }])
      const { avatar_url } = await get('')
      const answer = await fetch(avatar_url, { headers: { 'private-token': world.root.token! } })
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(picture)
    },
  )

  test('a request for access in an archive gives none, and its user stays the author of what they wrote', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const member = (who: Client, id: number, requested_at: string | null) => ({
      access_level: 30,
      requested_at,
      user: { id, username: who.username, email: `${who.username}@example.com` },
      ...times,
    })
    const members = [member(ann, 11, null), member(bob, 12, at)]
    const epics = [{ id: 1, iid: 1, title: 'Idea', author_id: 12, state: 'opened', ...times }]
    const group = { name: 'Asked', path: 'asked', visibility_level: 0, members, epics }
    const admin = await world.user({ admin: true })
    const { get } = await imported(world, group, admin)
    expect((await get('/members')).map(({ id }: { id: number }) => id).toSorted()).toEqual(
      [ann.id, admin.id].toSorted(),
    )
    expect(await get('/epics/1')).toMatchObject({ author: { id: bob.id } })
    expect((await mailsTo(world, `${admin.username}@example.com`)).at(-1)!.body).toContain('members: 1')
  })

  test('a user who is two members of an archive is imported once in each group, as the first', async ({ world }) => {
    const ann = await world.user()
    const [byName, byAddress] = [
      { id: 11, username: ann.username, email: 'another@example.com' },
      { id: 12, username: 'someone-else', email: `${ann.username}@example.com` },
    ]
    const members = [
      { access_level: 20, user: byAddress, ...times },
      { access_level: 30, user: byName, ...times },
    ]
    const admin = await world.user({ admin: true })
    const child = { name: 'Child', path: 'child', visibility_level: 0, members }
    const group = { name: 'Root', path: 'root', visibility_level: 0, members, children: [child] }
    const { path, get } = await imported(world, group, admin)
    const roleIn = (all: any[]) => all.filter(({ id }) => id === ann.id).map(({ access_level }) => access_level)
    expect(roleIn(await get('/members'))).toEqual([20])
    const below = (await admin.get(`/groups/${encodeURIComponent(`${path}/child`)}/members`)).json
    expect(roleIn(below)).toEqual([20])
  })

  test('epics that are their own ancestors are imported without a parent, and hostile values end in a reason', async ({
    world,
  }) => {
    const importer = await world.user()
    const epic = (id: number, parent_id: number) => ({
      id,
      iid: id,
      title: `E${id}`,
      author_id: 1,
      state: 'opened',
      parent_id,
      ...times,
    })
    const { get } = await imported(world, { epics: [epic(1, 2), epic(2, 1), epic(3, 3)] }, importer)
    const found = await get('/epics')
    expect(found.map(({ iid, parent_iid }: any) => [iid, parent_iid]).toSorted()).toEqual([
      [1, null],
      [2, 1],
      [3, null],
    ])
    const mails = () => mailsTo(world, `${importer.username}@example.com`)
    expect((await mails()).at(-1)!.body).toContain('epic_parents: 2')
    // Deeper than can be written as JSON, and more groups than an archive may have.
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const nested = `{"description":${deep},"epics":[{"iid":1,"title":${deep},"notes":[{"note":${deep}}]}],"labels":[{"title":${deep}}]}`
    expect(await (await imported(world, nested, importer)).get('/epics')).toEqual([])
    expect((await mails()).at(-1)!.body).toContain('labels: 1')
    const crowd = { children: Array.from({ length: 10_001 }, (_, at) => ({ name: `g${at}`, path: `g${at}` })) }
    expect(await (await imported(world, crowd, importer)).get('/subgroups')).toEqual([])
    expect((await mails()).at(-1)!.body).toContain('group.json has more than 10000 groups')
    const odd = { members: [null, 5], labels: {}, epics: 'x', children: [{ name: 'a', path: '../a' }], boards: [{}] }
    expect(await (await imported(world, odd, importer)).get('/subgroups')).toEqual([])
    expect((await mails()).at(-1)!.body).toContain('groups, line 2:')
  })

  test('subgroups are also those in `descendants`, and relations of any other name are counted', async ({ world }) => {
    const importer = await world.user()
    const sub = { name: 'Sub', path: 'sub', push_rules: [{ id: 1 }] }
    const { get } = await imported(world, { descendants: [sub], uploads: [{}, {}], saml: [] }, importer)
    expect(await get('/subgroups')).toMatchObject([{ name: 'Sub', path: 'sub' }])
    const { body } = (await mailsTo(world, `${importer.username}@example.com`)).at(-1)!
    for (const line of ['uploads: 2', 'push_rules: 1']) expect(body).toContain(line)
    expect(body).not.toContain('saml')
  })
})
