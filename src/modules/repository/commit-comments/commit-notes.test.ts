import { describe, expect } from 'vitest'
import { commitNotesOf, nameCommit } from '../../../../test/tables/discussion.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { mailNoteJob } from '../../discussion/subscriptions/jobs.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { commitTo, readTexts } from '../../review/closing/testing.ts'
import { storedProject } from '../commits/testing.ts'
import { forMembers } from './testing.ts'

/** A commit of a public project. */
async function discussed(world: World) {
  const project = await storedProject(world)
  const sha = project.repository.commit({ a: 'a\n' })
  const at = `/projects/${project.id}/repository/commits/${sha}`
  return { project, sha, at, comments: `${at}/comments`, discussions: `${at}/discussions` }
}

const ok = async (answer: Promise<{ status: number; text: string; json: any }>) => {
  const { status, text, json } = await answer
  expect([200, 201], text).toContain(status)
  return json
}

const bodies = async (who: Client, path: string): Promise<string[]> =>
  (await ok(who.get(path))).map(({ body, note }: { body?: string; note?: string }) => body ?? note)

/** Runs the jobs that mail notes. */
async function mailNotes(world: World): Promise<void> {
  for (const { payload } of await world.takeJobs('mail_note:%'))
    await mailNoteJob.run(payload, await world.app.open(null))
}

describe('notes of a commit', () => {
  test('a note of a commit has the fields of other notes, the hash of the commit, and no number', async ({ world }) => {
    const { discussions, sha } = await discussed(world)
    const { notes } = await ok(world.root.post(discussions, { body: 'Why?' }))
    expect(notes[0]).toMatchObject({
      ...{ type: 'DiscussionNote', body: 'Why?', attachment: null, system: false, resolvable: false },
      ...{ noteable_type: 'Commit', noteable_id: null, noteable_iid: null, commit_id: sha },
    })
    expect(notes[0]).not.toHaveProperty('resolved')
    expect(notes[0]).not.toHaveProperty('position')
  })

  test('a user who is mentioned in a comment of a commit has a todo for the commit, until they comment, too', async ({
    world,
  }) => {
    const { comments, sha, project } = await discussed(world)
    const [ann, bob] = [await world.user(), await world.user()]
    await ok(ann.post(comments, { note: `For @${bob.username}` }))
    const [todo] = await ok(bob.get('/todos?type=Commit'))
    const web_url = expect.stringMatching(new RegExp(`${project.full_path}/-/commit/${sha}$`))
    expect(todo).toMatchObject({
      ...{ action_name: 'mentioned', target_type: 'Commit', body: `For @${bob.username}`, state: 'pending' },
      ...{ author: { id: ann.id }, project: { id: project.id }, target: { id: sha, web_url } },
      target_url: expect.stringMatching(new RegExp(`/-/commit/${sha}#note_\\d+$`)),
    })
    expect(await ok(ann.get('/todos'))).toEqual([])
    await ok(bob.post(comments, { note: 'Seen' }))
    expect(await ok(bob.get('/todos'))).toEqual([])
    expect(await ok(bob.get('/todos?state=done'))).toMatchObject([{ id: todo.id, state: 'done' }])
  })

  test('a todo for a commit that the repository has lost shows its title, and can be marked as done', async ({
    world,
  }) => {
    const { comments, project } = await discussed(world)
    const bob = await world.user()
    await ok(world.root.post(comments, { note: `For @${bob.username}` }))
    const lost = 'e'.repeat(40)
    await nameCommit(world, project.id, { oid: lost, title: 'Once here' })
    const [todo] = await ok(bob.get('/todos'))
    expect(todo.target).toMatchObject({ id: lost, title: 'Once here', author_name: '' })
    expect(await ok(bob.post(`/todos/${todo.id}/mark_as_done`))).toMatchObject({ state: 'done' })
  })

  test('authors of a commit, commenters and mentioned users get a mail about a comment of it', async ({ world }) => {
    const project = await storedProject(world)
    const [author, commenter, mentioned] = [await world.user(), await world.user(), await world.user()]
    const sha = project.repository.commit({ a: 'a\n' }, { author: `A <${author.username}@example.com>` })
    const comments = `/projects/${project.id}/repository/commits/${sha}/comments`
    await ok(commenter.post(comments, { note: 'First' }))
    await world.takeJobs('mail_note:%')
    await ok(world.root.post(comments, { note: `Second, @${mentioned.username}` }))
    await mailNotes(world)
    for (const who of [author, commenter, mentioned]) {
      const mails = await mailsTo(world, `${who.username}@example.com`)
      expect(mails.map(({ body }) => body)).toContainEqual(expect.stringContaining('A comment on a commit:'))
      expect(mails.map(({ body }) => body)).toContainEqual(expect.stringContaining(`/-/commit/${sha}#note_`))
    }
  })

  test('a comment of a commit and its message mention an issue once, as the commit does', async ({ world }) => {
    const { project } = await discussed(world)
    const issue = await openIssue(world, { project })
    const other = await openIssue(world, { project })
    const sha = await commitTo(world, project.id, 'main', `About #${issue.iid}`)
    await readTexts(world)
    const comments = `/projects/${project.id}/repository/commits/${sha}/comments`
    await ok(world.root.post(comments, { note: `Again #${issue.iid}, and #${other.iid}` }))
    const jobs = await readTexts(world)
    await jobs.again()
    for (const at of [issue.at, other.at])
      expect(await bodies(world.root, `${at}/notes`)).toEqual([`mentioned in commit ${sha}`])
    await ok(world.root.put(`/projects/${project.id}`, forMembers))
    expect(await bodies(await world.user(), `${other.at}/notes`)).toEqual([])
  })

  test('comments of commits are found by a search for notes, by readers of the code', async ({ world }) => {
    const { project, comments, sha } = await discussed(world)
    const word = unique('needle')
    await ok(world.root.post(comments, { note: `A ${word}` }))
    const found = async (who: Client) => ok(who.get(`/projects/${project.id}/search?scope=notes&search=${word}`))
    const ann = await world.user()
    const record = { body: `A ${word}`, noteable_type: 'Commit', noteable_id: null, commit_id: sha }
    expect(await found(ann)).toMatchObject([record])
    expect(await ok(ann.get(`/search?scope=notes&search=${word}`))).toMatchObject([record])
    await ok(world.root.put(`/projects/${project.id}`, forMembers))
    expect(await found(ann)).toEqual([])
    expect(await found(world.root)).toMatchObject([record])
  })

  test('owners set the creation time of a note of a commit, others do not', async ({ world }) => {
    const { discussions } = await discussed(world)
    const created_at = '2020-01-02T03:04:05.000Z'
    const made = async (who: Client) => (await ok(who.post(discussions, { body: 'x', created_at }))).notes[0].created_at
    expect(await made(world.root)).toBe(created_at)
    expect(await made(await world.user())).not.toBe(created_at)
  })

  test('a single comment cannot be answered, one on a line can, and its answers are on the line', async ({ world }) => {
    const { comments, discussions } = await discussed(world)
    await ok(world.root.post(comments, { note: 'single' }))
    await ok(world.root.post(comments, { note: 'line', path: 'a', line: 1 }))
    const [single, line] = await ok(world.root.get(discussions))
    expect(await world.root.post(`${discussions}/${single.id}/notes`, { body: 'x' })).toMatchObject({ status: 400 })
    await ok(world.root.post(`${discussions}/${line.id}/notes`, { body: 'answer' }))
    expect((await ok(world.root.get(comments)))[2]).toMatchObject({
      note: 'answer',
      path: 'a',
      line: 1,
      line_type: 'new',
    })
  })

  test('activity and events name the note of a commit, not a row that clients do not know', async ({ world }) => {
    const { project, comments, sha } = await discussed(world)
    await ok(world.root.post(comments, { note: 'x' }))
    const [{ id }] = await commitNotesOf(world, project.id)
    const [line] = await ok(world.root.get(`/projects/${project.id}/events?target_type=note`))
    expect(line).toMatchObject({ action_name: 'commented on', target_type: 'Note', target_id: id, target_iid: id })
    const [event] = await eventsOf(world, { project: project.id, kind: 'note_created' }, 'payload')
    const discussion_id = expect.stringMatching(/^[0-9a-f]{40}$/)
    expect(event.payload).toEqual({ note_id: id, noteable_type: 'Commit', commit_id: sha, discussion_id })
  })

  test('comments of a deleted user belong to the ghost user, or are deleted with a hard deletion', async ({
    world,
  }) => {
    const { comments } = await discussed(world)
    for (const hard of [false, true]) {
      const ann = await world.user()
      await ok(ann.post(comments, { note: `${hard}` }))
      await world.root.delete(`/users/${ann.id}?hard_delete=${hard}`)
      await removeUser.run({ userId: ann.id, hard }, await world.app.open(null))
    }
    expect(await ok(world.root.get(comments))).toMatchObject([{ note: 'false', author: { username: 'ghost' } }])
  })
})
