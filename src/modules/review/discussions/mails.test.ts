import { describe, expect } from 'vitest'
import { moveEndOfAccess, moveEndOfMemberships } from '../../../../test/tables/access.ts'
import { addNotes, unsubscribe } from '../../../../test/tables/discussion.ts'
import { mailRows } from '../../../../test/tables/instance.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import {
  deliverNoteableMail,
  mailNamedUsersJob,
  mailNoteJob,
  mailOpeningJob,
} from '../../discussion/subscriptions/jobs.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

/** Mails to this user about merge requests. */
const inbox = async (world: World, who: Client) =>
  (await mailsTo(world, `${who.username}@example.com`)).filter(({ body }) => body.includes('/-/merge_requests/'))

/** Adds a note, and runs the notification job. */
async function addNote(world: World, who: Client, at: string, body = 'Hello', more: object = {}): Promise<number> {
  const { status, json } = await who.post(`${at}/notes`, { body, ...more })
  expect(status).toBe(201)
  const queued = await world.takeJobs(`mail_note:${json.id}`)
  for (const { payload } of queued) await mailNoteJob.run(payload, await world.app.open(null))
  return json.id
}

/** Runs the queued notification jobs of todos. */
async function mailTodos(world: World): Promise<void> {
  const queued = await world.takeJobs('mail_named_users:%')
  for (const { payload } of queued) await mailNamedUsersJob.run(payload, await world.app.open(null))
}

const people = (world: World, count: number) => Promise.all(Array.from({ length: count }, () => world.user()))

describe('mails about notes', () => {
  test('a note is mailed to more than a hundred participants, once to each', async ({ world }) => {
    const { at } = await openMergeRequest(world)
    const [commenter, ...participants] = await people(world, 103)
    for (const each of participants) expect((await each.post(`${at}/notes`, { body: 'Me too' })).status).toBe(201)
    await addNote(world, commenter!, at, 'Look *here*')
    const received = await Promise.all(participants.map((each) => inbox(world, each)))
    expect(received.map((mails) => mails.length)).toEqual(participants.map(() => 1))
    expect(received.at(-1)![0]!.body).toContain(`Hello Name of ${participants.at(-1)!.username},`)
  })

  test('a note is mailed to participants and subscribers only', async ({ world }) => {
    const [author, commenter, named, asked, quiet, stranger] = await people(world, 6)
    const { at, project, record } = await openMergeRequest(world, {
      author: author!,
      members: [
        [author!, 'developer'],
        [asked!, 'developer'],
      ],
    })
    await addNote(world, quiet!, at)
    await unsubscribe(world, record.id, quiet!.id)
    await asked!.post(`${at}/subscribe`)
    const id = await addNote(
      world,
      commenter!,
      at,
      `Look, @${named!.username}:\nHello Ann,\n\n--\nhttps://evil.example/`,
    )
    const [, mail] = await inbox(world, author!)
    expect(mail).toEqual({
      subject: `Merge topic, ${project.full_path}!1 (127.0.0.1)`,
      body: `Hello Name of ${author!.username},

A comment on a merge request:

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
      [commenter, 0],
      [quiet, 0],
      [stranger, 0],
    ] as const)
      expect(await inbox(world, who!), who!.username).toHaveLength(count)
  })

  test('the author of a note is the sender, at the address of the installation, and in the body if email_author_in_body is set', async ({
    world,
  }) => {
    const [author, commenter] = await people(world, 2)
    const { at } = await openMergeRequest(world, { author: author!, members: [[author!, 'developer']] })
    const name = `Name of ${commenter!.username} (@${commenter!.username})`
    for (const [named, sentence] of [
      [false, 'A comment on a merge request:'],
      [true, `${name} commented on a merge request:`],
    ] as const) {
      await world.settings({ email_author_in_body: named })
      await addNote(world, commenter!, at)
      const { sender, body } = (await mailRows(world, `${author!.username}@example.com`, 'sender', 'body')).at(-1)!
      expect(sender).toEqual({ name })
      expect(body).toContain(`,\n\n${sentence}\n\n`)
    }
  })

  test('the HTML part shows the Markdown of a note, with links to what each recipient may see', async ({ world }) => {
    const [insider, outsider, commenter] = await people(world, 3)
    const secret = await world.project({ visibility: 'private', members: [[insider!, 'reporter']] })
    const { iid } = (await world.root.post(`/projects/${secret.id}/issues`, { title: 'Secret plans' })).json
    const { at, project, record } = await openMergeRequest(world, {
      members: [insider!, outsider!].map((who): [Client, 'developer'] => [who, 'developer']),
    })
    for (const who of [insider!, outsider!]) await who.post(`${at}/subscribe`)
    const reference = `${secret.full_path}#${iid}`
    await addNote(world, commenter!, at, `**Look** <img src=x onerror=alert(1)> !${record.iid} ${reference}`)
    const htmlTo = async (who: Client) =>
      (await mailRows(world, `${who.username}@example.com`, 'html')).at(-1)!.html as string
    for (const who of [insider!, outsider!]) {
      const html = await htmlTo(who)
      expect(html).toContain('<strong>Look</strong>')
      expect(html).toContain(`href="${world.origin}/${project.full_path}/-/merge_requests/${record.iid}"`)
      expect(html).toContain(`<a href="${record.web_url}#note_`)
      expect(html).not.toContain('onerror')
    }
    expect(await htmlTo(insider!)).toContain('title="Secret plans"')
    expect(await htmlTo(outsider!)).toContain(reference)
    expect(await htmlTo(outsider!)).not.toContain('Secret plans')
  })

  test('a long note is mailed, also when the quoted part ends within an emoji', async ({ world }) => {
    const [author, commenter] = await people(world, 2)
    const { at } = await openMergeRequest(world, { author: author!, members: [[author!, 'developer']] })
    const id = await addNote(world, commenter!, at, `${'a'.repeat(9_999)}😀 and more`)
    const [mail] = await inbox(world, author!)
    expect(mail!.body).toContain(`\n\n> ${'a'.repeat(9_999)}`)
    expect(mail!.body).toContain(`#note_${id}`)
  })

  test('a note of many references is mailed as text: HTML with all their links is too long for many recipients', async ({
    world,
  }) => {
    const [reader, commenter] = await people(world, 2)
    const { at, iid } = await openMergeRequest(world, { author: reader!, members: [[reader!, 'developer']] })
    const note = `!${iid} `.repeat(1000)
    await addNote(world, commenter!, at, note)
    expect((await mailRows(world, `${reader!.username}@example.com`, 'body', 'html')).at(-1)).toEqual({
      body: expect.stringContaining(`> ${note.trim()}`),
      html: null,
    })
  })

  test('without html_emails_enabled notes are not rendered for mails', async ({ world }) => {
    const [reader, commenter] = await people(world, 2)
    const { at } = await openMergeRequest(world, { author: reader!, members: [[reader!, 'developer']] })
    await world.settings({ html_emails_enabled: false })
    await addNote(world, commenter!, at, '**Look**')
    expect((await mailRows(world, `${reader!.username}@example.com`, 'body', 'html')).at(-1)).toEqual({
      body: expect.stringContaining('> **Look**'),
      html: null,
    })
  })

  test.for([
    ['disabled', {}, 0, 0],
    ['participating', {}, 0, 1],
    ['watch', {}, 1, 1],
    ['mention', {}, 0, 1],
    ['custom', {}, 0, 1],
    ['custom', { new_note: true }, 1, 1],
  ] as const)(
    'notes are mailed according to the level %s with %j',
    async ([level, events, unnamed, named], { world }) => {
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
      await addNote(world, world.root, at)
      expect(await mailed()).toEqual([unnamed, unnamed, unnamed])
      const all = [general, ofGroup, ofProject].map((who) => `@${who!.username}`).join(' ')
      await addNote(world, world.root, at, all)
      expect(await mailed()).toEqual(Array(3).fill(unnamed + named))
    },
  )

  test('a note is not mailed to users who can no longer read it, or in a group without mails', async ({ world }) => {
    const [ann, bob] = await people(world, 2)
    const outer = await world.group({ visibility: 'public' })
    const group = await world.group({ visibility: 'public', parent: outer })
    const { at, project } = await openMergeRequest(world, { project: await storedProject(world, { group }) })
    for (const who of [ann!, bob!]) await addNote(world, who, at)
    expect(await inbox(world, ann!)).toHaveLength(1)
    await world.root.post(`/projects/${project.id}/members`, { user_id: bob!.id, access_level: 20 })
    await changeProject(world, project.id, { visibility: 0 })
    await addNote(world, world.root, at)
    expect(await inbox(world, ann!)).toHaveLength(1)
    expect(await inbox(world, bob!)).toHaveLength(1)
    await world.root.put(`/groups/${outer.id}`, { emails_disabled: true })
    await addNote(world, world.root, at)
    expect(await inbox(world, bob!)).toHaveLength(1)
  })

  test('a mail that waits is sent only to an address that is still of a user who may read the note and wants it', async ({
    world,
  }) => {
    const all = await people(world, 6)
    const [kept, removed, blocked, unsubscribed, disabled, moved] = all
    const members = all.map((who): [Client, 'developer'] => [who, 'developer'])
    const project = await storedProject(world, { visibility: 'private', members })
    const { at } = await openMergeRequest(world, { project })
    for (const who of all) await who.post(`${at}/subscribe`)
    const deliverAll = async () => {
      const sent: string[] = []
      const mailer = { send: async ({ to }: { to: string }) => void sent.push(to) }
      for (const { payload } of await world.takeJobs('deliver_noteable_mail:%'))
        await deliverNoteableMail.run(payload, { ...(await world.app.open(null)), mailer })
      return all.filter(({ username }) => sent.includes(`${username}@example.com`))
    }
    await addNote(world, world.root, at)
    expect(await deliverAll()).toEqual(all)
    await addNote(world, world.root, at)
    await world.root.delete(`/projects/${project.id}/members/${removed!.id}`)
    await world.root.post(`/users/${blocked!.id}/block`)
    await unsubscribed!.post(`${at}/unsubscribe`)
    await disabled!.put(`/projects/${project.id}/notification_settings`, { level: 'disabled' })
    await world.root.put(`/users/${moved!.id}`, { email: `${moved!.username}@example.org`, skip_reconfirmation: true })
    expect(await deliverAll()).toEqual([kept!])
    for (const who of all) expect(await inbox(world, who)).toEqual([])
    const id = await addNote(world, world.root, at, 'A password')
    expect(await inbox(world, kept!)).toHaveLength(1)
    await world.root.delete(`${at}/notes/${id}`)
    expect(await deliverAll()).toEqual([])
    expect(await inbox(world, kept!)).toEqual([])
  })

  test('no mail for imported notes, or above a hundred mails per hour', async ({ world }) => {
    const [ann, bob] = await people(world, 2)
    const { at, id, project } = await openMergeRequest(world)
    await addNote(world, bob!, at)
    await addNote(world, world.root, at, 'Old', { created_at: '2020-01-01' })
    expect(await inbox(world, bob!)).toEqual([])
    await addNotes(world, { project: project.id, mergeRequest: id, author: ann!.id }, 99)
    await addNote(world, ann!, at)
    expect(await inbox(world, bob!)).toHaveLength(1)
    await addNote(world, ann!, at)
    expect(await inbox(world, bob!)).toHaveLength(1)
  })
})

describe('mails about todos', () => {
  test('a todo for an assignment, a review or a mention is mailed', async ({ world }) => {
    const [ann, bob, eve] = await people(world, 3)
    const { project, record } = await openMergeRequest(world, {
      members: [
        [ann!, 'developer'],
        [eve!, 'developer'],
      ],
      assignee_ids: [ann!.id],
      reviewer_ids: [eve!.id],
      description: `For @${bob!.username}`,
    })
    const marked = await world.user()
    await marked.post(`/projects/${project.id}/merge_requests/1/todo`)
    await mailTodos(world)
    const [assigned] = await inbox(world, ann!)
    expect(assigned?.body).toContain('\n\nA merge request was assigned to you:\n')
    expect(assigned?.body).toContain(`Merge topic\n${record.web_url}\n`)
    expect((await inbox(world, bob!)).map(({ body }) => body)).toEqual([
      expect.stringContaining('\n\nYou were mentioned in a merge request:\n'),
    ])
    expect((await inbox(world, eve!)).map(({ body }) => body)).toEqual([
      expect.stringContaining('\n\nYour review of a merge request was requested:\n'),
    ])
    expect(await inbox(world, marked)).toEqual([])
  })

  test('a todo is not mailed to users who disabled it', async ({ world }) => {
    const [off, mention] = await people(world, 2)
    await off!.put('/notification_settings', { level: 'disabled' })
    await mention!.put('/notification_settings', { level: 'mention' })
    const project = await storedProject(world)
    await openMergeRequest(world, { project, description: `@${off!.username} @${mention!.username}` })
    await mailTodos(world)
    expect(await inbox(world, off!)).toEqual([])
    expect(await inbox(world, mention!)).toHaveLength(1)
  })
})

test('a job that runs again, because it was interrupted before the queue recorded its end, mails nothing twice', async ({
  world,
}) => {
  const [author, watcher, assignee] = await people(world, 3)
  const { at, id, project } = await openMergeRequest(world, {
    members: [author!, watcher!, assignee!].map((who): [Client, 'developer'] => [who, 'developer']),
  })
  await watcher!.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
  const { json: note } = await author!.post(`${at}/notes`, { body: 'Hello' })
  await author!.put(at, { assignee_ids: [assignee!.id] })
  const ctx = await world.app.open(null)
  const [todos] = await world.takeJobs('mail_named_users:%')
  for (let run = 1; run <= 2; run++) {
    await mailNoteJob.run({ noteId: note.id }, ctx)
    await mailNamedUsersJob.run(todos!.payload, ctx)
    await mailOpeningJob.run({ type: 'MergeRequest', id, actorId: world.root.id }, ctx)
  }
  expect(await inbox(world, watcher!)).toHaveLength(2)
  // The note and the assignment.
  expect(await inbox(world, assignee!)).toHaveLength(2)
  // Another todo about the same is another cause.
  await assignee!.post('/todos/mark_as_done')
  await author!.put(at, { assignee_ids: [] })
  await author!.put(at, { assignee_ids: [assignee!.id] })
  await mailTodos(world)
  expect(await inbox(world, assignee!)).toHaveLength(3)
})

test('a new merge request is mailed to a watcher who was named or asked to approve before, once in all', async ({
  world,
}) => {
  // By an author of its own: merge requests of one who has opened a hundred within an hour are not mailed.
  const [author, named, asked, assigned] = await people(world, 4)
  const watchers = [named!, asked!, assigned!]
  const project = await storedProject(world, {
    members: [author!, ...watchers].map((who): [Client, 'developer'] => [who, 'developer']),
  })
  for (const who of watchers) await who.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
  const { at, id } = await openMergeRequest(world, { project, author: author!, assignee_ids: [assigned!.id] })
  await world.root.post(`${at}/notes`, { body: `Look, @${named!.username}` })
  expect((await world.root.put(`${at}/approvers`, { approver_ids: [asked!.id] })).status).toBe(200)
  await mailTodos(world)
  const queued = await world.takeJobs(`mail_opening:MergeRequest:${id}`)
  for (const { payload } of queued) await mailOpeningJob.run(payload, await world.app.open(null))
  const lines = async (who: Client) => (await inbox(world, who)).map(({ body }) => /\n\n(.*):\n/.exec(body)?.[1])
  for (const who of [named!, asked!]) expect(await lines(who), who.username).toEqual(['A merge request was opened'])
  expect(await lines(assigned!)).toEqual(['A merge request was assigned to you'])
})

test('a new merge request is not mailed to who watches all projects once their membership has ended', async ({
  world,
}) => {
  const [author, lasting, ended, endedAbove] = await people(world, 4)
  const day = '2093-04-05'
  const group = await world.group({ visibility: 'public', members: [[endedAbove!, 'developer']] })
  const project = await storedProject(world, {
    group,
    visibility: 'public',
    members: [author!, lasting!, ended!].map((who): [Client, 'developer'] => [who, 'developer']),
  })
  for (const who of [lasting, ended, endedAbove]) await who!.put('/notification_settings', { level: 'watch' })
  for (const path of [`/projects/${project.id}/members/${ended!.id}`, `/groups/${group.id}/members/${endedAbove!.id}`])
    expect((await world.root.put(path, { access_level: 30, expires_at: day })).status).toBe(200)
  await moveEndOfMemberships(world, day)
  for (const table of ['project_access', 'group_access'] as const) await moveEndOfAccess(world, table, day)
  const { id } = await openMergeRequest(world, { project, author: author! })
  for (const { payload } of await world.takeJobs(`mail_opening:MergeRequest:${id}`))
    await mailOpeningJob.run(payload, await world.app.open(null))
  expect(await inbox(world, lasting!)).toHaveLength(1)
  for (const who of [ended!, endedAbove!]) expect(await inbox(world, who)).toEqual([])
})
