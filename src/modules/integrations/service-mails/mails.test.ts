import { pino } from 'pino'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { deliveryStates } from '../../../../test/tables/hooks.ts'
import { sendersOfMails } from '../../../../test/tables/instance.ts'
import { eventually } from '../../../../test/waiting.ts'
import { test, unique, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { deliver } from '../deliveries/deliver.ts'
import { Dispatcher } from '../deliveries/dispatcher.ts'
import { expandEvents } from '../deliveries/expand.ts'
import { dueDeliveries, saveResults } from '../deliveries/queue-queries.ts'
import { hookTimes } from '../deliveries/schedule.ts'

/** A project with a service that mails to a new address, and the sender of deliveries alone: mails stay queued. */
async function mailed(world: World, slug: 'emails-on-push' | 'pipelines-email', more: object = {}) {
  const project = await world.project()
  const address = `${unique('reader')}@example.com`
  const at = `/projects/${project.id}`
  const configure = (input: object) => world.root.put(`${at}/integrations/${slug}`, input)
  const made = await configure({ recipients: address, ...more })
  expect(made.status, made.text).toBe(200)
  return {
    project,
    at,
    id: made.json.id as number,
    address,
    configure,
    /** The mails to the address once these many deliveries have ended. */
    async mails(ended: number, to = address) {
      const dispatcher = new Dispatcher({ open: () => contextFor(world, null), log: pino({ level: 'silent' }) })
      dispatcher.start()
      try {
        await eventually(async () => {
          const { pending = 0, ...states } = await deliveryStates(world, made.json.id)
          expect([pending, Object.values(states).reduce((sum, count) => sum + count, 0)]).toEqual([0, ended])
        })
      } finally {
        await dispatcher.stop()
      }
      return mailsTo(world, to)
    },
  }
}

const commit = async (world: World, at: string, input: object = {}) => {
  const made = await world.root.post(`${at}/repository/commits`, {
    branch: 'main',
    commit_message: 'Add a file\n\nWith reasons',
    actions: [{ action: 'create', file_path: unique('file'), content: 'one line\n' }],
    ...input,
  })
  expect(made.status, made.text).toBe(201)
  return made.json
}

describe('emails-on-push', () => {
  test('long annotations of tags are cut', async ({ world }) => {
    const made = await mailed(world, 'emails-on-push')
    const others = Array.from({ length: 99 }, (_, n) => `reader${n}@example.com`)
    await made.configure({ recipients: [made.address, ...others].join(' ') })
    const long = 'x'.repeat(1_000_000)
    await commit(world, made.at)
    for (const name of ['v1', 'v2', 'v3']) {
      const tag = { tag_name: name, ref: 'main', message: long }
      expect((await world.root.post(`${made.at}/repository/tags`, tag)).status).toBe(201)
    }
    const mails = await made.mails(4)
    expect(mails).toHaveLength(4)
    for (const { body } of mails) expect(body.length).toBeLessThan(10_000)
  })

  test('each recipient gets a mail with commits and differences for a push, and one for a tag and a deletion', async ({
    world,
  }) => {
    const second = `${unique('other')}@example.com`
    const made = await mailed(world, 'emails-on-push')
    await made.configure({ recipients: `${made.address}, ${second}\n${second.toUpperCase()}` })
    const first = await commit(world, made.at)
    const next = await commit(world, made.at, {
      actions: [{ action: 'create', file_path: 'a.txt', content: 'hello\n' }],
    })
    await world.root.post(`${made.at}/repository/tags`, { tag_name: 'v1', ref: 'main', message: 'Release' })
    await commit(world, made.at, { branch: 'topic', start_branch: 'main' })
    await world.root.delete(`${made.at}/repository/branches/topic`)
    const mails = await made.mails(5)
    expect(await mailsTo(world, second)).toHaveLength(5)
    const place = `[Git][${made.project.full_path}]`
    const subjects = mails.map(({ subject }) => subject.replace(/ \([^()]*\)$/, ''))
    expect(subjects.toSorted()).toEqual(
      [
        `${place}[main] 1 commit: Add a file`,
        `${place}[main] 1 commit: Add a file`,
        `${place}[topic] 1 commit: Add a file`,
        `${place}[topic] Deleted branch`,
        `${place}[v1] Pushed tag`,
      ].toSorted(),
    )
    const body = mails.find(({ body }) => body.includes(next.id))!.body
    expect(body).toContain('With reasons')
    expect(body).toContain('=== a.txt\n@@ -0,0 +1 @@\n+hello')
    expect(body).toContain(`/-/compare/${first.id}...${next.id}`)
    expect(mails.find(({ body }) => body.includes('pushed the tag v1'))!.body).toContain('Release')
  })

  test('disable_diffs leaves the differences out', async ({ world }) => {
    const made = await mailed(world, 'emails-on-push', { disable_diffs: true })
    await commit(world, made.at)
    const [mail] = await made.mails(1)
    expect(mail!.body).toContain('With reasons')
    expect(mail!.body).not.toContain('one line')
  })

  test('branches_to_be_notified restricts branches, and flags restrict tags', async ({ world }) => {
    const made = await mailed(world, 'emails-on-push', { branches_to_be_notified: 'default', tag_push_events: false })
    await commit(world, made.at)
    await commit(world, made.at, { branch: 'topic', start_branch: 'main' })
    await world.root.post(`${made.at}/repository/tags`, { tag_name: 'v1', ref: 'main' })
    expect((await made.mails(1)).map(({ subject }) => subject)).toEqual([expect.stringContaining('[main]')])
  })

  test('large differences are cut, and a mail stays below 200 KB', async ({ world }) => {
    const made = await mailed(world, 'emails-on-push')
    const actions = Array.from({ length: 30 }, (_, n) => ({
      action: 'create',
      file_path: `file-${n}`,
      content: `${'x'.repeat(80)}\n`.repeat(n === 0 ? 100_000 : 200),
    }))
    await commit(world, made.at, { actions, commit_message: 'm'.repeat(100_000) })
    const [mail] = await made.mails(1)
    expect(mail!.subject.length).toBeLessThan(400)
    expect(mail!.body.length).toBeLessThan(200_000)
    expect(mail!.body).toContain('=== file-0\n(too large)')
    expect(mail!.body).toContain('Further changes are not shown.')
  })

  test('names of branches and titles of commits cannot add headers or NUL', async ({ world }) => {
    const made = await mailed(world, 'emails-on-push')
    const content = Buffer.from('a\0b\n').toString('base64')
    await commit(world, made.at, {
      commit_message: 'Title\rBcc: all@example.com',
      actions: [{ action: 'create', file_path: 'binary', content, encoding: 'base64' }],
    })
    const [mail] = await made.mails(1)
    expect(mail!.subject).not.toMatch(/[\r\n]/)
  })

  test('send_from_committer_email shows the pusher if their address has the domain of the installation', async ({
    world,
  }) => {
    const host = new URL(world.origin).hostname
    const made = await mailed(world, 'emails-on-push', { send_from_committer_email: true })
    const inside = await world.user({ email: `${unique('ann')}@${host}` })
    const outside = await world.user()
    for (const { id } of [inside, outside])
      await world.root.post(`${made.at}/members`, { user_id: id, access_level: 40 })
    await commit(world, made.at)
    for (const who of [inside, outside])
      await who.post(`${made.at}/repository/branches`, { branch: `of-${who.username}`, ref: 'main' })
    await made.mails(3)
    const senders = await sendersOfMails(world, made.address)
    expect(senders.filter((sender) => sender !== null)).toEqual([
      { name: expect.any(String), address: expect.stringContaining(`@${host}`) },
    ])
  })

  test('mails are queued with the end of their delivery: not twice, and not after the integration was disabled', async ({
    world,
  }) => {
    const ctx = await contextFor(world, null)
    for (const isDisabled of [false, true]) {
      const made = await mailed(world, 'emails-on-push')
      await commit(world, made.at)
      while ((await expandEvents(ctx)) === 'more');
      const due = await dueDeliveries(
        ctx.db,
        { deliveries: [], hooks: [], projects: [], groups: [], actors: [], hosts: [] },
        { perHook: 16, limit: 1000 },
      )
      const [ours] = due.filter(({ hook_id }) => hook_id === made.id)
      const payloads = { get: () => undefined, set: () => {}, forget: () => {} }
      const options = { times: hookTimes, payloads, signal: new AbortController().signal }
      const result = await deliver(ctx, ours!, options)
      expect(result).toMatchObject({ state: 'delivered', mails: [{ to: made.address }] })
      if (isDisabled) await world.root.delete(`${made.at}/integrations/emails-on-push`)
      for (let time = 0; time < 2; time++) await ctx.transaction((tx) => saveResults(tx, [result]))
      expect(await mailsTo(world, made.address)).toHaveLength(isDisabled ? 0 : 1)
    }
  })

  test('no mails while a group above the project disables them', async ({ world }) => {
    const made = await mailed(world, 'emails-on-push')
    const { namespace } = (await world.root.get(made.at)).json
    const disable = (emails_disabled: boolean) => world.root.put(`/groups/${namespace.id}`, { emails_disabled })
    await disable(true)
    await commit(world, made.at)
    expect(await made.mails(1)).toEqual([])
    const [dropped] = (await world.root.get(`${made.at}/integrations/emails-on-push/events`)).json
    expect(dropped).toMatchObject({ state: 'dropped', error: 'A group above the project disabled mails' })
    await disable(false)
    await commit(world, made.at)
    expect(await made.mails(2)).toHaveLength(1)
  })

  test('a recipient that is removed gets no mail of a push that was not sent yet', async ({ world }) => {
    const made = await mailed(world, 'emails-on-push')
    await commit(world, made.at)
    await made.configure({ recipients: `${unique('new')}@example.com` })
    expect(await made.mails(1)).toEqual([])
  })
})

describe('pipelines-email', () => {
  test('mails of failed pipelines of the default branch, and of passed ones on request', async ({ world }) => {
    const made = await mailed(world, 'pipelines-email')
    const run = async (state: string, branch = 'main') => {
      const { id } = await commit(world, made.at, branch === 'main' ? {} : { branch, start_branch: 'main' })
      await world.root.post(`${made.at}/statuses/${id}`, { state, name: 'build', ref: branch })
    }
    await run('failed')
    await run('success')
    await run('failed', 'topic')
    const subject = (word: string) => expect.stringMatching(new RegExp(`: pipeline #\\d+ of main ${word} \\(`))
    expect((await made.mails(1)).map((mail) => mail.subject)).toEqual([subject('failed')])
    await made.configure({ notify_only_broken_pipelines: false })
    await run('success')
    expect((await made.mails(2)).map((mail) => mail.subject)).toEqual([subject('failed'), subject('passed')])
  })
})
