import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { commitNotesOf, commitsDiscussedIn } from '../../../../test/tables/discussion.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { test } from '../../../../test/world.ts'
import { mailNoteJob } from '../../discussion/subscriptions/jobs.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { removeProject } from '../../projects/projects/jobs.ts'
import { forkOf } from '../../review/merge-requests/testing.ts'
import { storedProject } from '../commits/testing.ts'
import { forMembers } from './testing.ts'

const at = (project: { readonly id: number }, sha: string) => `/projects/${project.id}/repository/commits/${sha}`
const unknown = 'f'.repeat(40)

describe('access to notes of commits', () => {
  test('a fork shows no comments of the same commit in the other project', async ({ world }) => {
    const project = await storedProject(world)
    const sha = project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, await world.user())
    await world.root.post(`${at(project, sha)}/comments`, { note: 'Here' })
    const { json } = await world.root.post(`${at(fork, sha)}/discussions`, { body: 'There' })
    const notes = async (of: { readonly id: number }) =>
      (await world.root.get(`${at(of, sha)}/comments`)).json.map(({ note }: { note: string }) => note)
    expect([await notes(project), await notes(fork)]).toEqual([['Here'], ['There']])
    const one = `${at(project, sha)}/discussions/${json.id}`
    for (const path of [one, `${one}/notes`, `${one}/notes/${json.notes[0].id}`])
      expect((await world.root.get(path)).status, path).toBe(404)
    expect((await world.root.put(`${one}/notes/${json.notes[0].id}`, { body: 'x' })).status).toBe(404)
    expect((await world.root.delete(`${one}/notes/${json.notes[0].id}`)).status).toBe(404)
  })

  test('comments of a commit that was force-pushed away stay, by its hash, and more can be written', async ({
    world,
  }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const sha = project.repository.commit({ a: 'b\n' })
    await world.root.post(`${at(project, sha)}/comments`, { note: 'One' })
    project.repository.git('update-ref', 'refs/heads/main', `${sha}~1`)
    expect((await world.root.get(`${at(project, sha)}/comments`)).json).toMatchObject([{ note: 'One' }])
    expect((await world.root.post(`${at(project, sha)}/comments`, { note: 'Two' })).status).toBe(201)
    expect((await world.root.get(`${at(project, 'main')}/comments`)).json).toEqual([])
    expect(await commitsDiscussedIn(world, project.id)).toMatchObject([{ oid: sha }])
  })

  test('a repository for members only shows its comments and commits to members alone', async ({ world }) => {
    const [stranger, guest, reporter] = [await world.user(), await world.user(), await world.user()]
    const project = await storedProject(world, {
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
    })
    const sha = project.repository.commit({ a: 'a\n' })
    const { json } = await stranger.post(`${at(project, sha)}/discussions`, { body: 'Mine' })
    expect((await world.root.put(`/projects/${project.id}`, forMembers)).status).toBe(200)
    const note = `discussions/${json.id}/notes/${json.notes[0].id}`
    for (const path of ['comments', 'discussions', `discussions/${json.id}`, `discussions/${json.id}/notes`, note]) {
      const status = async (who: typeof guest, commit: string) =>
        (await who.get(`${at(project, commit)}/${path}`)).status
      expect([await status(guest, sha), await status(reporter, sha)], path).toEqual([200, 200])
      // The answers do not show whether a commit exists.
      for (const commit of [sha, unknown])
        expect([await status(world.anonymous, commit), await status(stranger, commit)], path).toEqual([401, 403])
    }
    // The author has no access to the code any more.
    expect((await stranger.put(`${at(project, sha)}/${note}`, { body: 'x' })).status).toBe(403)
    expect((await stranger.delete(`${at(project, sha)}/${note}`)).status).toBe(403)
    expect((await stranger.post(`${at(project, sha)}/comments`, { note: 'x' })).status).toBe(403)
  })

  test('guests of a private project cannot read or write comments, nor tell which commits exist', async ({ world }) => {
    const guest = await world.user()
    const project = await storedProject(world, { visibility: 'private', members: [[guest, 'guest']] })
    const sha = project.repository.commit({ a: 'a\n' })
    for (const commit of [sha, unknown]) {
      expect((await guest.get(`${at(project, commit)}/comments`)).status).toBe(403)
      expect((await guest.post(`${at(project, commit)}/comments`, { note: `@${guest.username}` })).status).toBe(403)
      expect((await world.anonymous.get(`${at(project, commit)}/comments`)).status).toBe(404)
    }
    await world.root.post(`${at(project, sha)}/comments`, { note: `For @${guest.username}` })
    expect((await guest.get('/todos')).json).toEqual([])
  })

  test('a todo for a commit is hidden while the user has no access to the code', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    const sha = project.repository.commit({ a: 'a\n' })
    await world.root.post(`${at(project, sha)}/comments`, { note: `For @${ann.username}` })
    expect((await ann.get('/todos')).json).toHaveLength(1)
    expect((await world.root.put(`/projects/${project.id}`, forMembers)).status).toBe(200)
    expect((await ann.get('/todos')).json).toEqual([])
  })

  test('a comment of a commit is mailed to no author, commenter or mentioned user who cannot read the code at that time', async ({
    world,
  }) => {
    const [author, commenter, named, muted, blocked, reader] = await Promise.all(
      Array.from({ length: 6 }, () => world.user()),
    )
    const project = await storedProject(world, { members: [[reader!, 'reporter']] })
    const sha = project.repository.commit({ a: 'a\n' }, { author: `Ann <${author!.username}@example.com>` })
    const everyone = [author, commenter, named, muted, blocked, reader].map((who) => `@${who!.username}`).join(' ')
    for (const who of [commenter!, muted!, blocked!]) await who.post(`${at(project, sha)}/comments`, { note: 'Seen' })
    await muted!.put(`/projects/${project.id}/notification_settings`, { level: 'disabled' })
    await world.root.post(`/users/${blocked!.id}/block`)
    await world.takeJobs('mail_note:%')
    await world.root.post(`${at(project, sha)}/comments`, { note: `Secret ${everyone}` })
    expect((await world.root.put(`/projects/${project.id}`, forMembers)).status).toBe(200)
    const jobs = await world.takeJobs('mail_note:%')
    expect(jobs).toHaveLength(1)
    for (const { payload } of jobs) await mailNoteJob.run(payload, await contextFor(world, null))
    const got = async (who: typeof author) =>
      (await mailsTo(world, `${who!.username}@example.com`)).some(({ body }) => body.includes('Secret'))
    for (const who of [author, commenter, named, muted, blocked]) expect(await got(who), who!.username).toBe(false)
    expect(await got(reader)).toBe(true)
  })

  test('32 concurrent first comments of a commit are all stored, of one commit', async ({ world }) => {
    const project = await storedProject(world)
    const sha = project.repository.commit({ a: 'a\n' })
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        index % 2 === 0
          ? world.root.post(`${at(project, sha)}/comments`, { note: `${index}` })
          : world.root.post(`${at(project, sha)}/discussions`, { body: `${index}` }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(await commitsDiscussedIn(world, project.id)).toHaveLength(1)
    expect(await commitNotesOf(world, project.id)).toHaveLength(32)
  })

  test('32 concurrent replies and new comments of a commit are all stored', async ({ world }) => {
    const project = await storedProject(world)
    const sha = project.repository.commit({ a: 'a\n' })
    const { id } = (await world.root.post(`${at(project, sha)}/discussions`, { body: 'First' })).json
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        index % 2 === 0
          ? world.root.post(`${at(project, sha)}/comments`, { note: `${index}` })
          : world.root.post(`${at(project, sha)}/discussions/${id}/notes`, { body: `${index}` }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(await commitNotesOf(world, project.id)).toHaveLength(33)
  })

  test('first comments beside the deletion of their project are stored or refused, and none is left', async ({
    world,
  }) => {
    const project = await storedProject(world)
    const shas = Array.from({ length: 4 }, (_, index) => project.repository.commit({ a: `${index}\n` }))
    const comment = (index: number) =>
      world.root.post(`${at(project, shas[index % 4]!)}/comments`, { note: `${index}` })
    const remove = async () => {
      await changeProject(world, project.id, { deleting: true })
      await removeProject.run({ projectId: project.id }, await contextFor(world, null))
    }
    const [, ...answers] = await Promise.all([remove(), ...Array.from({ length: 32 }, (_, index) => comment(index))])
    // 503: the deletion closed the repository while the commit was read.
    for (const { status, text } of answers as { status: number; text: string }[])
      expect([201, 404, 503], text).toContain(status)
    expect(await commitsDiscussedIn(world, project.id)).toEqual([])
    expect(await commitNotesOf(world, project.id)).toEqual([])
  })
})
