import { describe, expect } from 'vitest'
import { countHits } from '../../../../test/tables/users.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { deliverProjectMail, mailMoveJob, mailPipelineJob, mailReleaseJob } from './jobs.ts'

const people = (world: World, count: number) => Promise.all(Array.from({ length: count }, () => world.user()))

/** Runs the queued jobs that mail events of projects. */
async function mailAll(world: World): Promise<void> {
  const ctx = await world.app.open(null)
  for (const { payload } of await world.takeJobs('mail_release:%')) await mailReleaseJob.run(payload, ctx)
  for (const { payload } of await world.takeJobs('mail_project_move:%')) await mailMoveJob.run(payload, ctx)
  for (const { payload } of await world.takeJobs('mail_pipeline:%')) await mailPipelineJob.run(payload, ctx)
}

/** The mails to a user, other than those about memberships. */
async function inbox(world: World, who: Client) {
  await mailAll(world)
  const mails = await mailsTo(world, `${who.username}@example.com`)
  return mails.filter(({ subject }) => !subject.startsWith('Access to'))
}

const subjects = async (world: World, who: Client) =>
  (await inbox(world, who)).map(({ subject }) => subject.replace(/ \(127\.0\.0\.1\)$/, ''))

const sets = async (who: Client, projectId: number, settings: object) =>
  expect((await who.put(`/projects/${projectId}/notification_settings`, settings)).status).toBe(200)

const selects = (who: Client, projectId: number, events: object) => sets(who, projectId, { level: 'custom', ...events })

async function withTag(world: World, more: Parameters<typeof storedProject>[1] = {}) {
  const project = await storedProject(world, more)
  const head = project.repository.commit({ a: 'a\n' })
  project.repository.git('tag', 'v1')
  return { project, head, at: `/projects/${project.id}` }
}

describe('mails about releases', () => {
  test('a new release is mailed to watchers and to users who selected it, and to no others', async ({ world }) => {
    const [watcher, selecting, other, member, general] = await people(world, 5)
    const { project, at } = await withTag(world, {
      members: [
        [member!, 'developer'],
        [general!, 'developer'],
      ],
    })
    await sets(watcher!, project.id, { level: 'watch' })
    await selects(selecting!, project.id, { new_release: true })
    await selects(other!, project.id, { new_issue: true })
    await general!.put('/notification_settings', { level: 'watch' })
    await sets(world.root, project.id, { level: 'watch' })
    await world.root.post(`${at}/releases`, { tag_name: 'v1', name: 'First', description: 'All *new*\n--\nSent by' })
    const subject = `Release First, ${project.full_path}`
    for (const [who, count] of [
      [watcher, 1],
      [selecting, 1],
      [general, 1],
      [other, 0],
      [member, 0],
      [world.root, 0],
    ] as const)
      expect(await subjects(world, who!), who!.username).toEqual(Array.from({ length: count }, () => subject))
    const [mail] = await inbox(world, watcher!)
    expect(mail!.body).toContain(
      `A release was created:\n\nFirst\n${world.origin}/${project.full_path}/-/releases/v1\n\n> All *new*\n> --\n> Sent by\n`,
    )
  })

  test('a release is not mailed to users who may not read the code, or if it was released long ago', async ({
    world,
  }) => {
    const [guest, reporter] = await people(world, 2)
    const { project, at } = await withTag(world, {
      visibility: 'private',
      members: [
        [guest!, 'guest'],
        [reporter!, 'reporter'],
      ],
    })
    for (const who of [guest!, reporter!]) await sets(who, project.id, { level: 'watch' })
    project.repository.git('tag', 'v0')
    const old = { tag_name: 'v0', description: 'Old', released_at: '2020-01-01T00:00:00Z' }
    for (const release of [old, { tag_name: 'v1', description: 'New' }])
      expect((await world.root.post(`${at}/releases`, release)).status).toBe(201)
    expect(await subjects(world, guest!)).toEqual([])
    expect(await subjects(world, reporter!)).toEqual([`Release v1, ${project.full_path}`])
  })

  test('a mail about a release that waits is sent only to a user who may still read the code and wants mails', async ({
    world,
  }) => {
    const [kept, removed, disabled] = await people(world, 3)
    const { project, at } = await withTag(world, {
      visibility: 'private',
      members: [kept!, removed!, disabled!].map((who): [Client, 'reporter'] => [who, 'reporter']),
    })
    for (const who of [kept!, removed!, disabled!]) await sets(who, project.id, { level: 'watch' })
    await world.root.post(`${at}/releases`, { tag_name: 'v1', description: 'New' })
    await world.takeJobs('deliver_project_mail:%')
    await mailAll(world)
    await world.root.delete(`${at}/members/${removed!.id}`)
    await sets(disabled!, project.id, { level: 'disabled' })
    const sent: string[] = []
    const mailer = { send: async ({ to }: { to: string }) => void sent.push(to), close: () => {} }
    for (const { payload } of await world.takeJobs('deliver_project_mail:%'))
      await deliverProjectMail.run(payload, { ...(await world.app.open(null)), mailer })
    expect(sent).toEqual([`${kept!.username}@example.com`])
  })

  test('a user causes at most a hundred mailed releases an hour', async ({ world }) => {
    const [watcher, author] = await people(world, 2)
    const { project, at } = await withTag(world, { members: [[author!, 'developer']] })
    project.repository.git('tag', 'v2')
    await sets(watcher!, project.id, { level: 'watch' })
    await countHits(world, `release_mails:${author!.id}`, 99)
    for (const tag_name of ['v1', 'v2']) {
      await author!.post(`${at}/releases`, { tag_name, description: 'New' })
      await mailAll(world)
    }
    expect(await subjects(world, watcher!)).toEqual([`Release v1, ${project.full_path}`])
  })
})

describe('mails about projects that move', () => {
  test('a project that moves or gets another path is mailed to its members, unless they turned that off', async ({
    world,
  }) => {
    const [member, ofGroup, off, mention, deselecting, stranger] = await people(world, 6)
    const from = await world.group({ visibility: 'public', members: [[ofGroup!, 'developer']] })
    const to = await world.group({ visibility: 'public', members: [[ofGroup!, 'developer']] })
    const project = await world.project({
      group: from,
      visibility: 'public',
      members: [member!, off!, mention!, deselecting!].map((who): [Client, 'developer'] => [who, 'developer']),
    })
    await sets(off!, project.id, { level: 'disabled' })
    await sets(mention!, project.id, { level: 'mention' })
    await selects(deselecting!, project.id, { moved_project: false })
    await sets(stranger!, project.id, { level: 'watch' })
    const moved = await world.root.put(`/projects/${project.id}/transfer`, { namespace: to.id })
    expect(moved.status).toBe(200)
    const now: string = moved.json.path_with_namespace
    await mailAll(world)
    const renamed = `${to.full_path}/renamed`
    expect((await world.root.put(`/projects/${project.id}`, { path: 'renamed' })).status).toBe(200)
    const both = [`Project ${project.full_path} moved to ${now}`, `Project ${now} moved to ${renamed}`]
    for (const [who, expected] of [
      [member, both],
      [ofGroup, both],
      [off, []],
      [mention, []],
      [deselecting, []],
      [stranger, []],
    ] as const)
      expect(await subjects(world, who!), who!.username).toEqual(expected)
    const [mail] = await inbox(world, member!)
    expect(mail!.body).toContain(`\n\nIt was ${project.full_path}. `)
    expect(mail!.body).toContain(`\ngit remote set-url origin ${world.origin}/${now}.git\n`)
  })
})

describe('mails about pipelines', () => {
  test('a pipeline is mailed to its user: failed and fixed ones by default, successful ones if they are selected', async ({
    world,
  }) => {
    const [user, selecting, off, watcher] = await people(world, 4)
    const project = await storedProject(world, {
      members: [user!, selecting!, off!].map((who): [Client, 'developer'] => [who, 'developer']),
    })
    await selects(selecting!, project.id, { success_pipeline: true, failed_pipeline: false })
    await sets(off!, project.id, { level: 'disabled' })
    await sets(watcher!, project.id, { level: 'watch' })
    const said: Record<string, string[]> = {}
    for (const who of [user!, selecting!, off!]) {
      const branch = `of-${who.username}`
      for (const state of ['failed', 'success', 'success', 'failed']) {
        const head = project.repository.commit({ a: `${who.username} ${Math.random()}` }, { branch })
        await who.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })
        await mailAll(world)
      }
      said[who.username] = (await subjects(world, who)).map((subject) => /^Pipeline #\d+ (\w+), /.exec(subject)![1]!)
    }
    expect(said).toEqual({
      [user!.username]: ['failed', 'fixed', 'failed'],
      [selecting!.username]: ['fixed', 'succeeded'],
      [off!.username]: [],
    })
    expect(await subjects(world, watcher!)).toEqual([])
  })

  test('a pipeline that runs again before it is mailed is not mailed', async ({ world }) => {
    const [user] = await people(world, 1)
    const project = await storedProject(world, { members: [[user!, 'developer']] })
    const head = project.repository.commit({ a: 'a\n' })
    const report = (name: string, state: string) =>
      user!.post(`/projects/${project.id}/statuses/${head}`, { state, name, ref: 'main' })
    await report('one', 'failed')
    await report('one', 'running')
    expect(await subjects(world, user!)).toEqual([])
    await report('one', 'failed')
    await report('two', 'failed')
    expect(await subjects(world, user!)).toHaveLength(1)
  })
})
