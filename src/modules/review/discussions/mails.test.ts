import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { tellOfNote, tellOfTodos } from '../../discussion/subscriptions/jobs.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

/** Mails to somebody about merge requests. */
const inbox = async (world: World, who: Client) =>
  (await mailsTo(world, `${who.username}@example.com`)).filter(({ body }) => body.includes('/-/merge_requests/'))

/** Says something, and lets the job do what it would. */
async function say(world: World, who: Client, at: string, body = 'Hello', more: object = {}): Promise<number> {
  const { status, json } = await who.post(`${at}/notes`, { body, ...more })
  expect(status).toBe(201)
  const queued = await world.takeJobs(`tell_of_note:${json.id}`)
  for (const { payload } of queued) await tellOfNote.run(payload, await world.app.open(null))
  return json.id
}

/** What waits for somebody's list to be told. */
async function tellOfLists(world: World): Promise<void> {
  const queued = await world.takeJobs('tell_of_todos:%')
  for (const { payload } of queued) await tellOfTodos.run(payload, await world.app.open(null))
}

const people = (world: World, count: number) => Promise.all(Array.from({ length: count }, () => world.user()))

describe('what is said about a merge request', () => {
  test('is mailed to who takes part or asked for it, and to nobody else', async ({ world }) => {
    const [author, talker, named, asked, quiet, stranger] = await people(world, 6)
    const { at, project, record } = await openMergeRequest(world, {
      author: author!,
      members: [
        [author!, 'developer'],
        [asked!, 'developer'],
      ],
    })
    await say(world, quiet!, at)
    await world.rows('insert into subscriptions values ($1, $2, false)', [record.id, quiet!.id])
    await asked!.post(`${at}/subscribe`)
    const id = await say(world, talker!, at, `Look, @${named!.username}:\nHello Ann,\n\n--\nhttps://evil.example/`)
    const [, mail] = await inbox(world, author!)
    expect(mail).toEqual({
      subject: `Merge topic, ${project.full_path}!1 (127.0.0.1)`,
      body: `Hello Name of ${author!.username},

Name of ${talker!.username} (@${talker!.username}) commented on a merge request:

> Look, @${named!.username}:
> Hello Ann,
> 
> --
> https://evil.example/

Merge topic
${record.web_url}#note_${id}

--
Sent by ${world.origin} to ${author!.username}@example.com.
`,
    })
    for (const [who, count] of [
      [author, 2],
      [named, 1],
      [asked, 1],
      [talker, 0],
      [quiet, 0],
      [stranger, 0],
    ] as const)
      expect(await inbox(world, who!), who!.username).toHaveLength(count)
  })

  test.for([
    ['disabled', {}, 0, 0],
    ['participating', {}, 0, 1],
    ['watch', {}, 1, 1],
    ['mention', {}, 0, 1],
    ['custom', {}, 0, 1],
    ['custom', { new_note: true }, 1, 1],
  ] as const)('is mailed as he set it who chose %s %j', async ([level, events, unnamed, named], { world }) => {
    const [general, ofGroup, ofProject] = await people(world, 3)
    const members = [general!, ofGroup!, ofProject!].map((who): [Client, 'reporter'] => [who, 'reporter'])
    const group = await world.group({ visibility: 'public', members })
    const { at, project } = await openMergeRequest(world, { project: await storedProject(world, { group }) })
    await general!.put('/notification_settings', { level, ...events })
    await ofGroup!.put(`/groups/${group.id}/notification_settings`, { level, ...events })
    await ofProject!.put('/notification_settings', { level: level === 'watch' ? 'disabled' : 'watch' })
    await ofProject!.put(`/projects/${project.id}/notification_settings`, { level, ...events })
    const mailed = async () =>
      Promise.all([general, ofGroup, ofProject].map(async (who) => (await inbox(world, who!)).length))
    await say(world, world.root, at)
    expect(await mailed()).toEqual([unnamed, unnamed, unnamed])
    const all = [general, ofGroup, ofProject].map((who) => `@${who!.username}`).join(' ')
    await say(world, world.root, at, all)
    expect(await mailed()).toEqual(Array(3).fill(unnamed + named))
  })

  test('is mailed to nobody who may not read it now, or where a group around wants none', async ({ world }) => {
    const [ann, bob] = await people(world, 2)
    const outer = await world.group({ visibility: 'public' })
    const group = await world.group({ visibility: 'public', parent: outer })
    const { at, project } = await openMergeRequest(world, { project: await storedProject(world, { group }) })
    for (const who of [ann!, bob!]) await say(world, who, at)
    expect(await inbox(world, ann!)).toHaveLength(1)
    await world.root.post(`/projects/${project.id}/members`, { user_id: bob!.id, access_level: 20 })
    await world.rows('update projects set visibility = 0 where id = $1', [project.id])
    await say(world, world.root, at)
    expect(await inbox(world, ann!)).toHaveLength(1)
    expect(await inbox(world, bob!)).toHaveLength(1)
    await world.root.put(`/groups/${outer.id}`, { emails_disabled: true })
    await say(world, world.root, at)
    expect(await inbox(world, bob!)).toHaveLength(1)
  })

  test('is not mailed when it was said elsewhere, nor beyond a hundred times an hour', async ({ world }) => {
    const [ann, bob] = await people(world, 2)
    const { at, id, project } = await openMergeRequest(world)
    await say(world, bob!, at)
    await say(world, world.root, at, 'Old', { created_at: '2020-01-01' })
    expect(await inbox(world, bob!)).toEqual([])
    const before = `insert into notes (project_id, merge_request_id, author_id, discussion_id, body)
      select $1, $2, $3, repeat('0', 40), 'x' from generate_series(1, $4)`
    await world.rows(before, [project.id, id, ann!.id, 99])
    await say(world, ann!, at)
    expect(await inbox(world, bob!)).toHaveLength(1)
    await say(world, ann!, at)
    expect(await inbox(world, bob!)).toHaveLength(1)
  })
})

describe('what others put on the list of somebody', () => {
  test('is mailed: what he is assigned to, and where he is mentioned', async ({ world }) => {
    const [ann, bob] = await people(world, 2)
    const { project, record } = await openMergeRequest(world, {
      members: [[ann!, 'developer']],
      assignee_ids: [ann!.id],
      description: `For @${bob!.username}`,
    })
    const marked = await world.user()
    await marked.post(`/projects/${project.id}/merge_requests/1/todo`)
    await tellOfLists(world)
    const [assigned] = await inbox(world, ann!)
    expect(assigned?.body).toContain('(@root) assigned a merge request to you:')
    expect(assigned?.body).toContain(`Merge topic\n${record.web_url}\n`)
    expect((await inbox(world, bob!)).map(({ body }) => body)).toEqual([
      expect.stringContaining('(@root) mentioned you in a merge request:'),
    ])
    expect(await inbox(world, marked)).toEqual([])
  })

  test('is not mailed to who does not want it', async ({ world }) => {
    const [off, mention] = await people(world, 2)
    await off!.put('/notification_settings', { level: 'disabled' })
    await mention!.put('/notification_settings', { level: 'mention' })
    const project = await storedProject(world)
    await openMergeRequest(world, { project, description: `@${off!.username} @${mention!.username}` })
    await tellOfLists(world)
    expect(await inbox(world, off!)).toEqual([])
    expect(await inbox(world, mention!)).toHaveLength(1)
  })
})
