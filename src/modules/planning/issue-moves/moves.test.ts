import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { isUnlocked, lockRow } from '../../../../test/tables/instance.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openIssue } from '../issues/testing.ts'

/** An issue, another project, and a reporter of both. */
async function stage(world: World, attributes: object = {}) {
  const rita = await world.user()
  const members: [Client, Level][] = [[rita, 'reporter']]
  const from = await openIssue(world, { members, visibility: 'private', ...attributes })
  const target = await storedProject(world, { members, visibility: 'private' })
  return { rita, from, target }
}

const link = async (who: Client, at: string, to: object) => {
  await who.post(`${at}/links`, to)
  return (await who.get(`${at}/links`)).json[0]
}
const move = (who: Client, at: string, projectId: number) => who.post(`${at}/move`, { to_project_id: projectId })

const bodies = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json.map(({ body }: { body: string }) => body)

describe('POST /projects/:id/issues/:issue_iid/move', () => {
  test('a moved issue keeps author, times, texts and what was said, and closes the old one', async ({ world }) => {
    const [author, commenter] = [await world.user(), await world.user()]
    const { rita, from, target } = await stage(world, {
      visibility: 'public',
      author,
      title: 'Elsewhere',
      description: 'As #7 says, not `#7`',
    })
    const { at } = from
    await rita.put(at, { weight: 4, due_date: '2030-01-02', assignee_ids: [rita.id, author.id] })
    const note = (await commenter.post(`${at}/notes`, { body: 'Like #9 and a/b#3' })).json
    const thread = (await commenter.post(`${at}/discussions`, { body: 'Why?' })).json
    await author.post(`${at}/discussions/${thread.id}/notes`, { body: 'Because' })
    await author.post(`${at}/award_emoji`, { name: 'tada' })
    await author.post(`${at}/notes/${note.id}/award_emoji`, { name: 'rocket' })
    await rita.post(`${at}/time_estimate`, { duration: '3h' })
    await rita.post(`${at}/add_spent_time`, { duration: '1h' })
    await commenter.post(`${at}/unsubscribe`)

    const moved = await move(rita, at, target.id)

    const now = `/projects/${target.id}/issues/1`
    expect(moved).toMatchObject({
      status: 201,
      json: {
        iid: 1,
        project_id: target.id,
        title: 'Elsewhere',
        description: `As ${from.project.full_path}#7 says, not \`#7\``,
        state: 'opened',
        author: { id: author.id },
        created_at: from.record.created_at,
        weight: 4,
        due_date: '2030-01-02',
        assignees: [{ id: rita.id }],
        moved_to_id: null,
        time_stats: { time_estimate: 10_800, total_time_spent: 3600 },
        user_notes_count: 3,
      },
    })
    expect((await rita.get(at)).json).toMatchObject({
      state: 'closed',
      closed_by: { id: rita.id },
      moved_to_id: moved.json.id,
    })
    expect((await bodies(rita, at)).at(-1)).toBe(`moved to ${moved.json.references.full}`)
    const copied = (await rita.get(`${now}/notes?sort=asc`)).json
    expect(copied.filter((each: any) => !each.system)).toMatchObject([
      { body: `Like ${from.project.full_path}#9 and a/b#3`, author: { id: commenter.id }, created_at: note.created_at },
      { body: 'Why?' },
      { body: 'Because', author: { id: author.id } },
    ])
    expect(copied.at(-1).body).toBe(`moved from ${from.project.full_path}#1`)
    const threads = (await rita.get(`${now}/discussions`)).json.filter((each: any) => each.notes.length === 2)
    expect(threads).toMatchObject([{ individual_note: false, notes: [{ body: 'Why?' }, { body: 'Because' }] }])
    expect(threads[0].id).not.toBe(thread.id)
    const copy = copied.find(({ body }: any) => body.startsWith('Like'))
    expect((await rita.get(`${now}/award_emoji`)).json).toMatchObject([{ name: 'tada', user: { id: author.id } }])
    expect((await rita.get(`${now}/notes/${copy.id}/award_emoji`)).json).toMatchObject([{ name: 'rocket' }])
    await world.root.post(`/projects/${target.id}/members`, { user_id: commenter.id, access_level: 20 })
    expect((await commenter.get(now)).json.subscribed).toBe(false)
  })

  test('events of labels and milestones that the target lacks, or that are deleted, move without them', async ({
    world,
  }) => {
    const { rita, from, target } = await stage(world)
    const project = `/projects/${from.project.id}`
    const milestone = async (title: string) => (await world.root.post(`${project}/milestones`, { title })).json.id
    const [kept, deleted] = [await milestone('kept'), await milestone('deleted')]
    await rita.put(from.at, { labels: 'only here', milestone_id: deleted })
    await rita.put(from.at, { add_labels: 'deleted', milestone_id: kept })
    await world.root.delete(`${project}/labels/deleted`)
    await world.root.delete(`${project}/milestones/${deleted}`)
    const { json } = await move(rita, from.at, target.id)
    const events = async (of: string) =>
      (await rita.get(`/projects/${target.id}/issues/${json.iid}/resource_${of}_events`)).json
    expect(await events('label')).toMatchObject([
      { action: 'add', label: null, user: { id: rita.id } },
      { action: 'add', label: null },
    ])
    expect(await events('milestone')).toMatchObject([
      { action: 'add', milestone: null, user: { id: rita.id } },
      { action: 'add', milestone: null },
    ])
    expect(json).toMatchObject({ labels: [], milestone: null })
  })

  test('labels, milestone and their events move by title', async ({ world }) => {
    const { rita, from, target } = await stage(world)
    const milestones: number[] = []
    for (const { id } of [from.project, target])
      milestones.push((await world.root.post(`/projects/${id}/milestones`, { title: '1.0' })).json.id)
    await world.root.post(`/projects/${target.id}/labels`, { name: 'bug', color: 'red' })
    await rita.put(from.at, { labels: 'bug,only here', milestone_id: milestones[0] })
    await rita.put(from.at, { state_event: 'close' })
    await rita.put(from.at, { state_event: 'reopen' })
    const { json } = await move(rita, from.at, target.id)
    expect(json).toMatchObject({ labels: ['bug'], milestone: { id: milestones[1], project_id: target.id } })
    const now = `/projects/${target.id}/issues/${json.iid}`
    const own = (await rita.get(`/projects/${target.id}/labels/bug`)).json.id
    expect((await rita.get(`${now}/resource_label_events`)).json).toMatchObject([
      { action: 'add', label: { id: own } },
      { action: 'add', label: null },
    ])
    expect((await rita.get(`${now}/resource_milestone_events`)).json).toMatchObject([
      { milestone: { id: milestones[1] } },
    ])
    expect((await rita.get(`${now}/resource_state_events`)).json).toMatchObject([
      { state: 'closed' },
      { state: 'reopened' },
    ])
    expect((await rita.get(`/projects/${target.id}/labels`)).json.map(({ name }: any) => name)).toEqual(['bug'])
  })

  test('an issue moves that was linked to the same issue twice', async ({ world }) => {
    const { rita, from, target } = await stage(world)
    const other = await openIssue(world, { project: from.project })
    const to = { target_project_id: from.project.id, target_issue_iid: other.iid }
    const { issue_link_id } = await link(rita, from.at, to)
    await rita.delete(`${from.at}/links/${issue_link_id}`)
    await link(rita, from.at, to)
    expect((await move(rita, from.at, target.id)).status).toBe(201)
  })

  test('uploads named by the texts of a moved issue are found in its new project', async ({ world }) => {
    const { rita, from, target } = await stage(world)
    const body = new FormData()
    body.set('file', new Blob(['a picture']), 'x.txt')
    const { markdown, url } = (await rita.send('POST', `/projects/${from.project.id}/uploads`, { body })).json
    await rita.post(`${from.at}/notes`, { body: `See ${markdown}` })
    const other = await world.user()
    await world.root.post(`/projects/${target.id}/members`, { user_id: other.id, access_level: 20 })
    expect((await other.get(`//${target.full_path}${url}`)).status).toBe(404)
    const { json } = await move(rita, from.at, target.id)
    expect(await bodies(other, `/projects/${target.id}/issues/${json.iid}`)).toContain(`See ${markdown}`)
    expect(await other.get(`//${target.full_path}${url}`)).toMatchObject({ status: 200, text: 'a picture' })
    expect((await other.get(`//${from.project.full_path}${url}`)).status).toBe(404)
  })

  test('concurrent moves of one issue make one copy', async ({ world }) => {
    const { rita, from, target } = await stage(world)
    const answers = await Promise.all(Array.from({ length: 4 }, () => move(rita, from.at, target.id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    expect((await rita.get(`/projects/${target.id}/issues/2`)).status).toBe(404)
    expect(await move(rita, from.at, target.id)).toMatchObject({
      status: 400,
      json: { message: 'Cannot move issue due to insufficient permissions!' },
    })
  })

  test('a moved issue that is reopened is continued nowhere else, and can move again', async ({ world }) => {
    const { at, project } = await openIssue(world)
    const target = await world.project()
    expect((await move(world.root, at, target.id)).status).toBe(201)
    expect((await world.root.put(at, { state_event: 'reopen' })).json).toMatchObject({
      state: 'opened',
      moved_to_id: null,
    })
    const again = await move(world.root, at, target.id)
    expect(again.status).toBe(201)
    expect((await world.root.get(at)).json).toMatchObject({
      project_id: project.id,
      state: 'closed',
      moved_to_id: again.json.id,
    })
  })

  test('moves in opposite directions succeed at the same time', async ({ world }) => {
    const { rita, from, target } = await stage(world)
    const back = await openIssue(world, { project: target })
    const answers = await Promise.all([move(rita, from.at, target.id), move(rita, back.at, from.project.id)])
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
  })

  test.for(['a new issue', 'an issue', 'a note'] as const)(
    'a quick action of %s that moves it locks both projects in their order',
    async (where, { world }) => {
      const { rita, from: first, target: second } = await stage(world)
      expect(first.project.id).toBeLessThan(second.id)
      const { at } = await openIssue(world, { project: second })
      const text = `/move ${first.project.full_path}`
      const requests = {
        'a new issue': () => rita.post(`/projects/${second.id}/issues`, { title: 'x', description: text }),
        'an issue': () => rita.put(at, { description: text }),
        'a note': () => rita.post(`${at}/notes`, { body: text }),
      }
      const { waiting } = await world.db.transaction(async (tx) => {
        await lockRow(tx, 'projects', first.project.id, 'no key update')
        const sent = requests[where]()
        await world.waitsForLock()
        expect(await isUnlocked(tx, 'projects', second.id)).toBe(true)
        return { waiting: sent }
      })
      expect((await waiting).status).toBeLessThan(300)
      expect((await rita.get(`/projects/${first.project.id}/issues`)).json).toHaveLength(2)
    },
  )

  test('an issue moves between projects whose issues the caller may administer', async ({ world }) => {
    const { rita, from, target } = await stage(world)
    const guest = await world.user()
    for (const { id } of [from.project, target])
      await world.root.post(`/projects/${id}/members`, { user_id: guest.id, access_level: 10 })
    const hidden = await storedProject(world, { visibility: 'private' })
    for (const [who, at, id, status, message] of [
      [guest, from.at, target.id, 400, 'Cannot move issue due to insufficient permissions!'],
      [rita, from.at, from.project.id, 400, 'Cannot move issue to project it originates from!'],
      [rita, from.at, hidden.id, 404, '404 Project Not Found'],
      [rita, `/projects/${from.project.id}/issues/99`, target.id, 404, '404 Issue Not Found'],
    ] as const)
      expect(await move(who, at, id), message).toMatchObject({ status, json: { message } })
    expect(await rita.post(`${from.at}/move`)).toMatchObject({
      status: 400,
      json: { error: 'to_project_id is missing' },
    })
    await world.root.put(`/projects/${target.id}`, { issues_access_level: 'disabled' })
    expect((await move(rita, from.at, target.id)).status).toBe(400)
    expect((await rita.get(from.at)).json.state).toBe('opened')
  })

  test('a confidential issue stays confidential, and only readers of the other issue see where it went', async ({
    world,
  }) => {
    const { rita, from, target } = await stage(world, { confidential: true, title: 'Whispered' })
    const [here, there] = [await world.user(), await world.user()]
    await world.root.post(`/projects/${from.project.id}/members`, { user_id: here.id, access_level: 20 })
    await world.root.post(`/projects/${target.id}/members`, { user_id: there.id, access_level: 10 })
    const { json } = await move(rita, from.at, target.id)
    expect(json.confidential).toBe(true)
    const now = `/projects/${target.id}/issues/${json.iid}`
    expect((await there.get(now)).status).toBe(404)
    expect((await bodies(here, from.at)).join()).not.toContain(target.full_path)
    expect((await bodies(rita, from.at)).join()).toContain(`moved to ${json.references.full}`)
    await world.root.delete(`/projects/${target.id}/members/${rita.id}`)
    await expect.poll(async () => (await bodies(rita, from.at)).join()).not.toContain(target.full_path)
    expect((await there.get(`/projects/${target.id}/events`)).text).not.toContain('Whispered')
  })
})

describe('POST /projects/:id/issues/:issue_iid/clone', () => {
  test('a clone belongs to the caller and has the attributes of the issue, which stays open', async ({ world }) => {
    const { rita, from } = await stage(world, { title: 'Again', description: 'As #7', labels: 'bug', weight: 2 })
    await rita.post(`${from.at}/notes`, { body: 'A comment' })
    const cloned = await rita.post(`${from.at}/clone`, { to_project_id: from.project.id })
    expect(cloned).toMatchObject({
      status: 201,
      json: {
        iid: 2,
        title: 'Again',
        description: 'As #7',
        labels: ['bug'],
        weight: 2,
        author: { id: rita.id },
        user_notes_count: 0,
        state: 'opened',
      },
    })
    expect(await bodies(rita, `/projects/${from.project.id}/issues/2`)).toEqual(['cloned from #1'])
    expect((await rita.get(from.at)).json).toMatchObject({ state: 'opened', moved_to_id: null })
    expect((await bodies(rita, from.at)).at(-1)).toBe('cloned to #2')
  })

  test('with notes, a clone in another project has the comments with their authors', async ({ world }) => {
    const { rita, from, target } = await stage(world)
    await world.root.post(`${from.at}/notes`, { body: 'See !4' })
    await rita.post(`${from.at}/award_emoji`, { name: 'tada' })
    const { json } = await rita.post(`${from.at}/clone`, { to_project_id: target.id, with_notes: true })
    const now = `/projects/${target.id}/issues/${json.iid}`
    expect((await rita.get(`${now}/notes?sort=asc`)).json[0]).toMatchObject({
      body: `See ${from.project.full_path}!4`,
      author: { id: world.root.id },
    })
    expect((await rita.get(`${now}/award_emoji`)).json).toEqual([])
  })

  test('404 or 400 for a clone into a project whose issues the caller may not administer', async ({ world }) => {
    const { rita, from } = await stage(world)
    const [hidden, open] = [
      await storedProject(world, { visibility: 'private' }),
      await storedProject(world, { visibility: 'public' }),
    ]
    expect((await rita.post(`${from.at}/clone`, { to_project_id: hidden.id })).status).toBe(404)
    expect(await rita.post(`${from.at}/clone`, { to_project_id: open.id })).toMatchObject({
      status: 400,
      json: { message: 'Cannot clone issue due to insufficient permissions!' },
    })
  })
})
