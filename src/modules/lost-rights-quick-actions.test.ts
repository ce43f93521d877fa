import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { removed, twoIssues } from '../../test/lost-rights.ts'
import { lockRow } from '../../test/tables/instance.ts'
import { type Client, test } from '../../test/world.ts'
import type { Level } from '../access/levels.ts'
import { openEpic } from './planning/epics/testing.ts'
import { openIssue } from './planning/issues/testing.ts'
import { storedProject } from './repository/commits/testing.ts'
import { openMergeRequest } from './review/merge-requests/testing.ts'

describe('a quick action of a member who may only comment when its turn comes does nothing', () => {
  const close = { body: '/close' }

  test.for(['issues', 'merge_requests', 'epics'] as const)('/close in %s', async (noun, { world }) => {
    const ann = await world.user()
    const members: [Client, Level][] = [[ann, 'developer']]
    const opened = { issues: openIssue, merge_requests: openMergeRequest, epics: openEpic }[noun]
    const thing = await opened(world, { members })
    const holder =
      'group' in thing ? removed(world, 'groups', thing.group, ann) : removed(world, 'projects', thing.project, ann)
    await answerDuring(
      world,
      () => ann.post(`${thing.at}/notes`, close),
      holder,
      (tx) => lockRow(tx, noun, thing.id),
    )
    expect((await world.root.get(thing.at)).json.state).toBe('opened')
  })

  test.for(['issues', 'merge_requests'] as const)('/spend in %s', async (noun, { world }) => {
    const ann = await world.user()
    const members: [Client, Level][] = [[ann, 'developer']]
    const thing = await { issues: openIssue, merge_requests: openMergeRequest }[noun](world, { members })
    await answerDuring(
      world,
      () => ann.post(`${thing.at}/notes`, { body: '/spend 1h' }),
      removed(world, 'projects', thing.project, ann),
      (tx) => lockRow(tx, noun, thing.id),
    )
    expect((await world.root.get(`${thing.at}/time_stats`)).json.total_time_spent).toBe(0)
  })

  test('/approve', async ({ world }) => {
    const ann = await world.user()
    const { project, id, at } = await openMergeRequest(world, { members: [[ann, 'developer']] })
    await answerDuring(
      world,
      () => ann.post(`${at}/notes`, { body: '/approve' }),
      removed(world, 'projects', project, ann),
      (tx) => lockRow(tx, 'merge_requests', id),
    )
    expect((await world.root.get(`${at}/approvals`)).json.approved_by).toEqual([])
  })

  test.for([
    ['merge', 'a project that is archived'],
    ['merge', 'a project that the member left'],
    ['rebase', 'a project that is archived'],
  ] as const)('/%s in %s', async ([name, which], { world }) => {
    const ann = await world.user()
    const { project, id, at } = await openMergeRequest(world, { members: [[ann, 'maintainer']] })
    const answer = await answerDuring(
      world,
      () => ann.post(`${at}/notes`, { body: `/${name}` }),
      which === 'a project that is archived'
        ? () => world.root.post(`/projects/${project.id}/archive`)
        : removed(world, 'projects', project, ann),
      (tx) => lockRow(tx, 'merge_requests', id),
    )
    expect(answer).toMatchObject({ status: 202, json: { summary: [`Could not apply ${name} command.`] } })
    expect((await world.root.get(`${at}?include_rebase_in_progress=true`)).json).toMatchObject({
      state: 'opened',
      rebase_in_progress: false,
    })
  })

  test('/promote', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, 'reporter']] })
    const issue = await openIssue(world, { project: await storedProject(world, { group }) })
    await answerDuring(
      world,
      () => ann.post(`${issue.at}/notes`, { body: '/promote' }),
      removed(world, 'groups', group, ann),
      (tx) => lockRow(tx, 'issues', issue.id),
    )
    expect((await world.root.get(`/groups/${group.id}/epics`)).json).toEqual([])
    expect((await world.root.get(issue.at)).json.state).toBe('opened')
  })

  test('/duplicate of an issue that the member cannot read any more', async ({ world }) => {
    const { ann, own, there, leaves } = await twoIssues(world)
    await answerDuring(
      world,
      () => ann.post(`${own.at}/notes`, { body: `/duplicate ${there.project.full_path}#${there.iid}` }),
      leaves,
      (tx) => lockRow(tx, 'issues', own.id),
    )
    expect((await world.root.get(`${there.at}/notes`)).json).toEqual([])
  })
})
