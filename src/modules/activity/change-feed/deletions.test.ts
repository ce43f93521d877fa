import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { caughtUp } from '../../../../test/tables/events.ts'
import { Client, test, type World } from '../../../../test/world.ts'
import { purgeExpiredMembers } from '../../groups/members/jobs.ts'
import { removeProject } from '../../projects/index.ts'

type Change = {
  cursor: string
  kind: string
  project_id: number | null
  group_id: number | null
  target_type: string
  target_id: number
  on_type: string | null
  on_id: number | null
}

/** The cursor after everything that has happened so far. */
async function now(world: World, who: Client): Promise<string> {
  await caughtUp(world)
  return (await who.get('/events/changes')).headers['x-next-cursor']!
}

async function changes(who: Client, after: string): Promise<Change[]> {
  const found: Change[] = []
  for (let cursor = after; ; ) {
    const page = await who.get(`/events/changes?after=${cursor}&limit=500`)
    expect(page.status, page.text).toBe(200)
    found.push(...(page.json as Change[]))
    cursor = page.headers['x-next-cursor']!
    if (page.headers['x-has-more'] !== 'true') return found
  }
}

/** Who of these sees an event of this kind about this target. */
async function seers(world: World, who: Readonly<Record<string, Client>>, after: string, kind: string, id: number) {
  await caughtUp(world)
  const seen: string[] = []
  for (const [name, client] of Object.entries(who))
    if ((await changes(client, after)).some((each) => each.kind === kind && each.target_id === id)) seen.push(name)
  return seen
}

async function people(world: World) {
  const [guest, reporter, owner, stranger, external] = await Promise.all([
    world.user(),
    world.user(),
    world.user(),
    world.user(),
    world.user({ external: true }),
  ])
  const group = await world.group({
    visibility: 'public',
    members: [
      [guest, 'guest'],
      [reporter, 'reporter'],
      [owner, 'owner'],
    ],
  })
  return { group, who: { guest, reporter, owner, stranger, external, root: world.root } }
}

describe('deleted records in the change feed', () => {
  test.for([
    ['private', ['guest', 'reporter', 'owner', 'root']],
    ['internal', ['guest', 'reporter', 'owner', 'stranger', 'root']],
    ['public', ['guest', 'reporter', 'owner', 'stranger', 'external', 'root']],
  ] as const)(
    'the deletion of a %s project is seen by those who could see it in its group',
    async ([visibility, expected], { world }) => {
      await world.settings({ deletion_adjourned_period: 0 })
      const { group, who } = await people(world)
      const project = await world.project({ group, visibility })
      const start = await now(world, world.root)
      expect((await who.owner.delete(`/projects/${project.id}`)).status).toBe(202)
      const found = () => seers(world, who, start, 'project_deleted', project.id)
      expect(await found()).toEqual(expected)
      await removeProject.run({ projectId: project.id }, await contextFor(world, null))
      expect(await found()).toEqual(expected)
      await world.root.delete(`/groups/${group.id}/members/${who.guest.id}`)
      if (visibility === 'private') expect(await found()).toEqual(['reporter', 'owner', 'root'])
    },
  )

  test('the deletion of a project of a user is seen by its owner only, unless it was open', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    for (const [visibility, expected] of [
      ['private', ['ann']],
      ['internal', ['ann', 'bob']],
    ] as const) {
      const { json } = await ann.post('/projects', { name: visibility, visibility })
      const start = await now(world, ann)
      expect((await world.root.delete(`/projects/${json.id}`)).status).toBe(202)
      expect(await seers(world, { ann, bob }, start, 'project_deleted', json.id)).toEqual(expected)
    }
  })

  test('the deletion of a group is seen by those of its parent, and without one by who deleted it, unless it was open', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    const { group, who } = await people(world)
    const [inner, alone, open] = [
      await world.group({ parent: group, visibility: 'private' }),
      await world.group({
        visibility: 'private',
        members: [
          [who.owner, 'owner'],
          [who.guest, 'guest'],
        ],
      }),
      await world.group({ visibility: 'public' }),
    ]
    const start = await now(world, world.root)
    for (const { id } of [inner, alone]) expect((await who.owner.delete(`/groups/${id}`)).status).toBe(202)
    expect((await world.root.delete(`/groups/${open.id}`)).status).toBe(202)
    const found = (id: number) => seers(world, who, start, 'group_deleted', id)
    expect(await found(inner.id)).toEqual(['guest', 'reporter', 'owner', 'root'])
    expect(await found(alone.id)).toEqual(['owner', 'root'])
    expect(await found(open.id)).toEqual(['guest', 'reporter', 'owner', 'stranger', 'external', 'root'])
  })

  test('the deletion of an issue is seen by readers of issues, of a confidential one from reporters on', async ({
    world,
  }) => {
    const { group, who } = await people(world)
    const project = await world.project({ group, visibility: 'private' })
    const at = `/projects/${project.id}/issues`
    const start = await now(world, world.root)
    const deleted: number[] = []
    for (const confidential of [false, true]) {
      const { json } = await world.root.post(at, { title: 'Gone', confidential })
      expect((await world.root.delete(`${at}/${json.iid}`)).status).toBe(204)
      deleted.push(json.id)
    }
    const found = (id: number) => seers(world, who, start, 'issue_deleted', id)
    expect(await found(deleted[0]!)).toEqual(['guest', 'reporter', 'owner', 'root'])
    expect(await found(deleted[1]!)).toEqual(['reporter', 'owner', 'root'])
    await world.root.put(`/projects/${project.id}`, { issues_access_level: 'disabled' })
    expect(await found(deleted[0]!)).toEqual([])
  })

  test('epics, their notes and their deletions are seen by readers of epics, confidential ones from reporters on', async ({
    world,
  }) => {
    const { group, who } = await people(world)
    const at = `/groups/${(await world.group({ parent: group, visibility: 'private' })).id}/epics`
    const readers = ['guest', 'reporter', 'owner', 'root']
    for (const confidential of [false, true]) {
      const seen = confidential ? readers.slice(1) : readers
      const start = await now(world, world.root)
      const epic = (await world.root.post(at, { title: 'Plan', confidential })).json
      const note = (await world.root.post(`${at}/${epic.iid}/notes`, { body: 'x' })).json
      expect(await seers(world, who, start, 'epic_opened', epic.id)).toEqual(seen)
      expect(await seers(world, who, start, 'note_created', note.id)).toEqual(seen)
      expect((await world.root.delete(`${at}/${epic.iid}`)).status).toBe(204)
      expect(await seers(world, who, start, 'epic_opened', epic.id)).toEqual([])
      expect(await seers(world, who, start, 'epic_deleted', epic.id)).toEqual(seen)
    }
  })

  test('the deletion of a note and of a merge request is seen by readers of what it was on', async ({ world }) => {
    const { group, who } = await people(world)
    const project = await world.project({ group, visibility: 'private' })
    const at = `/projects/${project.id}`
    await world.root.post(`${at}/repository/files/a`, { branch: 'main', commit_message: 'x', content: 'x' })
    await world.root.post(`${at}/repository/branches`, { branch: 'topic', ref: 'main' })
    await world.root.put(`${at}/repository/files/a`, { branch: 'topic', commit_message: 'x', content: 'y' })
    const start = await now(world, world.root)
    const issue = (await world.root.post(`${at}/issues`, { title: 'Hidden', confidential: true })).json
    const note = (await world.root.post(`${at}/issues/${issue.iid}/notes`, { body: 'x' })).json
    expect((await world.root.delete(`${at}/issues/${issue.iid}/notes/${note.id}`)).status).toBe(204)
    expect(await seers(world, who, start, 'note_deleted', note.id)).toEqual(['reporter', 'owner', 'root'])
    const input = { source_branch: 'topic', target_branch: 'main', title: 'Gone' }
    const mr = (await world.root.post(`${at}/merge_requests`, input)).json
    expect((await world.root.delete(`${at}/merge_requests/${mr.iid}`)).status).toBe(204)
    expect(await seers(world, who, start, 'merge_request_deleted', mr.id)).toEqual(['reporter', 'owner', 'root'])
  })
})

describe('groups, members and accounts in the change feed', () => {
  test('members who end by a date are seen as removed, as those who are removed', async ({ world }) => {
    const { group, who } = await people(world)
    const project = await world.project({ group, visibility: 'private' })
    const ann = await world.user()
    const start = await now(world, world.root)
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    for (const at of [`/groups/${group.id}`, `/projects/${project.id}`])
      await world.root.post(`${at}/members`, { user_id: ann.id, access_level: 30, expires_at: yesterday })
    await purgeExpiredMembers.run({}, await contextFor(world, null))
    await caughtUp(world)
    // The job removes expired members of other tests, too.
    const removals = async (seer: Client) =>
      (await changes(seer, start)).filter((each) => each.kind === 'member_removed' && each.target_id === ann.id)
    const removed = await removals(who.guest)
    const member = { target_type: 'Member', target_id: ann.id }
    expect(removed).toHaveLength(2)
    expect(removed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...member, on_type: 'Group', on_id: group.id, group_id: group.id, project_id: null }),
        expect.objectContaining({ ...member, on_type: 'Project', on_id: project.id, project_id: project.id }),
      ]),
    )
    // The group is public, its project is not.
    expect((await removals(who.stranger)).map(({ on_type }) => on_type)).toEqual(['Group'])
  })

  test('a private group is seen by its members, an account by itself and administrators', async ({ world }) => {
    const { who } = await people(world)
    const start = await now(world, world.root)
    const group = (await who.owner.post('/groups', { name: 'Hidden', path: `hidden-${who.owner.id}` })).json
    await who.owner.put(`/groups/${group.id}`, { description: 'x' })
    for (const kind of ['group_created', 'group_updated'])
      expect(await seers(world, who, start, kind, group.id)).toEqual(['owner', 'root'])
    await world.root.put(`/users/${who.guest.id}`, { name: 'Another name' })
    expect(await seers(world, who, start, 'user_updated', who.guest.id)).toEqual(['guest', 'root'])
    const ann = await world.user()
    await world.root.delete(`/users/${ann.id}`)
    expect(await seers(world, who, start, 'user_deleted', ann.id)).toEqual(['root'])
  })

  test('403 for a token that is limited to a project', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const token = { name: 'Reader', scopes: ['read_api'], project_ids: [project.id] }
    const made = await ann.post('/user/personal_access_tokens', token)
    const limited = new Client(world.origin, { id: ann.id, username: ann.username, token: made.json.token })
    expect((await limited.get('/events/changes')).status).toBe(403)
    expect((await limited.get('/events/stream')).status).toBe(403)
  })
})
