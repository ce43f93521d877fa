import { describe, expect } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import {
  audienceNumbers,
  audienceRows,
  changeIssue,
  deleteIssues,
  insertIssueIn,
  labelIn,
  projectNumbers,
  staleLabelCopies,
  staleUpdates,
} from '../../../../test/tables/issues.ts'
import { changeProject, deleteProject } from '../../../../test/tables/projects.ts'
import { Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { addUpAudiences } from '../../namespaces/audience-counts/jobs.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { openIssue } from '../issues/testing.ts'

const addUp = async (world: World) => addUpAudiences.run({}, await world.app.open(null))

const visibilities = ['private', 'internal', 'public'] as const

describe('totals over all projects', () => {
  test('the numbers by audience and by project are those of the tables, whatever changes them', async ({ world }) => {
    const projects = await Promise.all(visibilities.map((visibility) => storedProject(world, { visibility })))
    const same = async () => {
      const { kept, counted } = await audienceNumbers(world)
      expect(kept).toEqual(counted)
      const byProject = await projectNumbers(
        world,
        projects.map(({ id }) => id),
      )
      expect(byProject.kept).toEqual(byProject.counted)
      expect(await staleLabelCopies(world)).toEqual([])
      expect(await staleUpdates(world)).toEqual([])
    }
    const issues = await Promise.all(projects.map((project) => openIssue(world, { project, labels: 'bug,ui' })))
    const hidden = await openIssue(world, { project: projects[2]!, confidential: true, labels: 'bug' })
    const merge = await openMergeRequest(world, { visibility: 'public' })
    await world.root.put(merge.at, { labels: 'bug' })
    await same()
    for (const { at } of issues) await world.root.put(at, { state_event: 'close' })
    await world.root.put(merge.at, { state_event: 'close' })
    await same()
    await world.root.put(hidden.at, { confidential: false })
    await same()
    await world.root.put(hidden.at, { state_event: 'close' })
    await world.root.put(hidden.at, { confidential: true })
    await same()
    await world.root.put(hidden.at, { state_event: 'reopen' })
    await same()
    await world.root.put(hidden.at, { state_event: 'close' })
    await deleteIssues(world, [hidden.id])
    await same()
    await world.root.put(issues[1]!.at, { title: 'Of no account' })
    for (const { id } of [projects[0]!, merge.project])
      for (const visibility of [20, 0, 10]) await changeProject(world, id, { visibility })
    await world.root.put(`/projects/${projects[2]!.id}`, { issues_access_level: 'private' })
    await world.root.put(`/projects/${merge.project.id}`, { merge_requests_access_level: 'disabled' })
    await same()
    await deleteIssues(world, [issues[0]!.id])
    await changeProject(world, projects[1]!.id, { deleting: true })
    await same()
    await deleteProject(world, { id: projects[1]!.id })
    await same()
  })

  test.for([
    ['issue', openIssue],
    ['merge_request', openMergeRequest],
  ] as const)(
    '%s: closed while a label is added, it is listed among the closed ones with it',
    async ([what, open], { world }) => {
      const { id, at, project } = await open(world)
      const label = (await world.root.post(`/projects/${project.id}/labels`, { name: 'late', color: '#ff0000' })).json
      const ctx = await world.app.open(null)
      let closing: Promise<{ status: number }> | undefined
      await ctx.transaction(async (tx) => {
        await labelIn(tx, what, id, label.id)
        closing = world.root.put(at, { state_event: 'close' })
        await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      })
      expect((await closing)!.status).toBe(200)
      expect(await staleLabelCopies(world)).toEqual([])
      const listed = async (state: string) =>
        (await world.root.get(`/${what}s?scope=all&labels=late&state=${state}`)).json.map((one: any) => one.id)
      expect({ opened: await listed('opened'), closed: await listed('closed') }).toEqual({ opened: [], closed: [id] })
    },
  )

  test.for(['issue', 'merge_request'] as const)(
    'a label for an %s that is gone violates its foreign key',
    async (what, { world }) => {
      const project = await storedProject(world)
      const label = (await world.root.post(`/projects/${project.id}/labels`, { name: 'late', color: '#ff0000' })).json
      const ctx = await world.app.open(null)
      // Such a transaction is tried again; after a column that is null it is not.
      await expect(ctx.transaction((tx) => labelIn(tx, what, 999_999_999, label.id))).rejects.toMatchObject({
        kind: 'not_found',
        cause: { code: '23503' },
      })
    },
  )

  test('adding up keeps the numbers and leaves a row for each', async ({ world }) => {
    const project = await storedProject(world)
    const { id } = await openIssue(world, { project })
    for (let round = 0; round < 30; round++) {
      await changeIssue(world, id, { state: 'closed' })
      await changeIssue(world, id, { state: 'opened' })
    }
    const { counted } = await audienceNumbers(world)
    expect(await audienceRows(world)).toBeGreaterThan(100)
    await Promise.all([addUp(world), addUp(world), openIssue(world, { project }), addUp(world)])
    const after = await audienceNumbers(world)
    expect(after.kept).toEqual(after.counted)
    expect(await audienceRows(world)).toBeLessThanOrEqual(counted.length + 1)
  })

  test('issues that are not committed yet hold up neither new ones nor the adding up, and are counted in the end', async ({
    world,
  }) => {
    const project = await storedProject(world)
    const other = await storedProject(world)
    const ctx = await world.app.open(null)
    await ctx.transaction(async (tx) => {
      await insertIssueIn(tx, project.id, 1)
      const { id } = await openIssue(world, { project: other })
      for (let round = 0; round < 30; round++) {
        await changeIssue(world, id, { state: 'closed' })
        await changeIssue(world, id, { state: 'opened' })
      }
      await addUp(world)
    })
    const { kept, counted } = await audienceNumbers(world)
    expect(kept).toEqual(counted)
  })

  test('X-Total and statistics of all are those of the lists, for a member, another user and without sign-in', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const projects = await Promise.all(
      visibilities.map((visibility) => storedProject(world, { visibility, members: [[ann, 'reporter']] })),
    )
    for (const project of projects) {
      await openIssue(world, { project })
      const { at } = await openIssue(world, { project, confidential: true })
      await world.root.put(at, { state_event: 'close' })
    }
    await openMergeRequest(world, { project: projects[1]! })
    await openMergeRequest(world, { project: projects[2]! })
    const listed = async (who: Client, path: string) => {
      const first = await who.get(`${path}&per_page=100`)
      const pages = Math.ceil(Number(first.headers['x-total']) / 100)
      const rows = [first.json.length]
      for (let page = 2; page <= pages + 1; page++)
        rows.push((await who.get(`${path}&per_page=100&page=${page}`)).json.length)
      return { total: Number(first.headers['x-total']), rows: rows.reduce((sum, count) => sum + count, 0) }
    }
    for (const who of [ann, bob, world.anonymous]) {
      for (const path of [
        '/issues?scope=all',
        '/issues?scope=all&state=closed',
        '/merge_requests?scope=all&state=opened',
      ]) {
        const { total, rows } = await listed(who, path)
        expect([path, total]).toEqual([path, rows])
      }
      if (who === world.anonymous) continue
      const { opened, closed, all } = (await who.get('/issues_statistics?scope=all')).json.statistics.counts
      expect({ opened, closed, all }).toEqual({
        opened: (await listed(who, '/issues?scope=all&state=opened')).total,
        closed: (await listed(who, '/issues?scope=all&state=closed')).total,
        all: (await listed(who, '/issues?scope=all')).total,
      })
    }
    const closed = async (who: Client) => (await who.get('/issues_statistics?scope=all')).json.statistics.counts.closed
    expect((await closed(ann)) - (await closed(bob))).toBe(3)
  })

  test('X-Total and statistics from stored numbers are those of a count, for each kind of caller and project', async ({
    world,
  }) => {
    const group = await world.group({ visibility: 'public' })
    const [guest, reporter, ofGroup, stranger] = [
      await world.user(),
      await world.user(),
      await world.user(),
      await world.user(),
    ]
    const external = await world.user({ external: true })
    await world.root.post(`/groups/${group.id}/members`, { user_id: ofGroup.id, access_level: 10 })
    const members: [Client, Level][] = [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ]
    const shapes = visibilities.flatMap((visibility) => [
      { visibility, change: { issues_access_level: 'enabled' } },
      { visibility, change: { issues_access_level: 'private' } },
    ])
    const projects = await Promise.all(
      [...shapes, { visibility: 'public', change: { issues_access_level: 'disabled' } } as const].map(
        async ({ visibility, change }) => ({ ...(await storedProject(world, { visibility, group, members })), change }),
      ),
    )
    const archived = await storedProject(world, { group, members })
    for (const project of [...projects, archived]) {
      await openIssue(world, { project })
      await openIssue(world, { project, confidential: true, assignee_ids: [guest.id] })
      const { at } = await openIssue(world, { project, confidential: true })
      await world.root.put(at, { state_event: 'close' })
      const written = await openIssue(world, { project, author: reporter })
      await world.root.put(written.at, { confidential: true })
      await world.root.delete(`/projects/${project.id}/members/${reporter.id}`)
      if (project.id % 2)
        await world.root.post(`/projects/${project.id}/members`, { user_id: reporter.id, access_level: 20 })
    }
    for (const { id, change } of projects) await world.root.put(`/projects/${id}`, change)
    await changeProject(world, archived.id, { archived: true })

    const since = 'created_after=2000-01-01T00:00:00Z'
    const total = async (who: Client, path: string) => {
      const { status, headers } = await who.get(path)
      return status === 200 ? Number(headers['x-total']) : status
    }
    // Tokens that are limited to groups have no lists of all.
    const { json } = await ofGroup.post('/user/personal_access_tokens', {
      name: 'limited',
      scopes: ['api'],
      group_ids: [group.id],
    })
    const limited = new Client(world.origin, { id: ofGroup.id, username: ofGroup.username, token: json.token })
    const seen = new Set<number>()
    for (const who of [guest, reporter, ofGroup, stranger, external, world.root, world.anonymous, limited])
      for (const list of [
        '/issues?scope=all',
        `/groups/${group.id}/issues?scope=all`,
        `/groups/${group.id}/issues?non_archived=false`,
      ]) {
        const counted: number[] = []
        for (const state of ['all', 'opened', 'closed']) {
          const path = `${list}&state=${state}`
          const number = await total(who, path)
          expect([path, number]).toEqual([path, await total(who, `${path}&${since}`)])
          counted.push(number)
        }
        if (list.startsWith('/groups')) seen.add(counted[0]!)
        if (counted.includes(403) || who === world.anonymous) continue
        const statistics = list
          .replace(/issues\b(?!.*issues)/, 'issues_statistics')
          .replace('non_archived=false', 'scope=all')
        const { all, opened, closed } = (await who.get(statistics)).json.statistics.counts
        const counts = (await who.get(`${statistics}&${since}`)).json.statistics.counts
        expect({ all, opened, closed }).toEqual(counts)
      }
    expect(await total(limited, `/groups/${group.id}/issues?non_archived=false`)).toBe(7)
    // The callers differ in what they see.
    expect(seen.size).toBeGreaterThan(5)
  })
})
