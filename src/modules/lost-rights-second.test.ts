import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { lockRow, lockTable } from '../../test/tables/instance.ts'
import { type Answer, type Client, type TestGroup, test, type World } from '../../test/world.ts'
import type { Level } from '../access/levels.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { lockGroup } from './groups/index.ts'
import { openEpic } from './planning/epics/testing.ts'
import { lockOrder } from './planning/issue-order/queries.ts'
import { openIssue } from './planning/issues/testing.ts'
import { type StoredProject, storedProject } from './repository/commits/testing.ts'
import { forkOf, openMergeRequest } from './review/merge-requests/testing.ts'

const removed =
  (world: World, of: 'projects' | 'groups', { id }: { id: number }, ann: Client) =>
  () =>
    world.root.delete(`/${of}/${id}/members/${ann.id}`)

/** An issue of a project of Ann, and one of a project that she can be removed from. */
async function twoIssues(world: World) {
  const ann = await world.user()
  const members: [Client, Level][] = [[ann, 'maintainer']]
  const [own, there] = [
    await openIssue(world, { visibility: 'private', members }),
    await openIssue(world, { visibility: 'private', members }),
  ]
  return { ann, own, there, leaves: removed(world, 'projects', there.project, ann) }
}

/** An epic of a group in which Ann can become a guest; a group below it remains hers, with an epic, and a project with an issue. */
async function epicAbove(world: World) {
  const ann = await world.user()
  const above = await world.group({ members: [[ann, 'reporter']] })
  const group = await world.group({ parent: above, members: [[ann, 'owner']] })
  const project = await storedProject(world, { group, visibility: 'private' })
  const issue = await openIssue(world, { project })
  const [epic, child] = [await openEpic(world, { group: above }), await openEpic(world, { group })]
  const becomesGuest = () => world.root.put(`/groups/${above.id}/members/${ann.id}`, { access_level: 10 })
  return { ann, project, issue, epic, child, becomesGuest }
}

describe('a request that names a second object is refused to a member who lost the right to that while the request waited', () => {
  test('a link of issues', async ({ world }) => {
    const { ann, own, there, leaves } = await twoIssues(world)
    const refused = await answerDuring(
      world,
      () => ann.post(`${own.at}/links`, { target_project_id: there.project.id, target_issue_iid: there.iid }),
      leaves,
      (tx) => lockRow(tx, 'issues', own.id),
    )
    expect(refused.status).toBe(404)
    expect((await world.root.get(`${own.at}/links`)).json).toEqual([])
  })

  test('the removal of a link of issues', async ({ world }) => {
    const { ann, own, there, leaves } = await twoIssues(world)
    const link = { target_project_id: there.project.id, target_issue_iid: there.iid }
    expect((await ann.post(`${own.at}/links`, link)).status).toBe(201)
    const [{ issue_link_id: id }] = (await ann.get(`${own.at}/links`)).json
    const refused = await answerDuring(
      world,
      () => ann.delete(`${own.at}/links/${id}`),
      leaves,
      (tx) => lockRow(tx, 'issues', own.id),
    )
    expect(refused.status).toBe(404)
    expect((await world.root.get(`${own.at}/links`)).json).toHaveLength(1)
  })

  test.for(['PUT', 'POST'] as const)('the epic of an issue, by %s', async (method, { world }) => {
    const { ann, project, issue, epic, becomesGuest } = await epicAbove(world)
    const refused = await answerDuring(
      world,
      () =>
        method === 'PUT'
          ? ann.put(issue.at, { epic_id: epic.id })
          : ann.post(`/projects/${project.id}/issues`, { title: 'new', epic_id: epic.id }),
      becomesGuest,
      (tx) => lockRow(tx, 'epics', epic.id),
    )
    expect(refused.status).toBe(403)
    expect((await world.root.get(`${epic.at}/issues`)).json).toEqual([])
  })

  test('the parent of an epic', async ({ world }) => {
    const { ann, epic, child, becomesGuest } = await epicAbove(world)
    const refused = await answerDuring(
      world,
      () => ann.put(child.at, { parent_id: epic.id }),
      becomesGuest,
      (tx) => lockRow(tx, 'epics', child.id),
    )
    expect(refused.status).toBe(403)
    expect((await world.root.get(child.at)).json.parent_id).toBeNull()
  })

  test.for(['enabled', 'added'] as const)('the project that has a deploy key, %s here', async (how, { world }) => {
    const ann = await world.user()
    const members: [Client, Level][] = [[ann, 'maintainer']]
    const [own, there] = [
      await world.project({ visibility: 'private', members }),
      await world.project({ visibility: 'private', members }),
    ]
    const key = newPublicKey()
    const { id } = (await world.root.post(`/projects/${there.id}/deploy_keys`, { title: 'key', key })).json
    const at = `/projects/${own.id}/deploy_keys`
    const refused = await answerDuring(
      world,
      () => (how === 'enabled' ? ann.post(`${at}/${id}/enable`) : ann.post(at, { title: 'mine', key, can_push: true })),
      removed(world, 'projects', there, ann),
      (tx) => lockRow(tx, 'ssh_keys', id),
    )
    expect(refused.status).toBe(how === 'enabled' ? 404 : 403)
    expect((await ann.get(at)).json).toEqual([])
  })

  const ofEpic: Record<
    string,
    (ann: Client, at: string, ids: Record<'issue' | 'link' | 'other', number>) => Promise<Answer>
  > = {
    POST: (ann, at, { issue }) => ann.post(`${at}/issues/${issue}`),
    PUT: (ann, at, { link, other }) => ann.put(`${at}/issues/${link}`, { move_after_id: other }),
    DELETE: (ann, at, { link }) => ann.delete(`${at}/issues/${link}`),
  }
  test.for(Object.keys(ofEpic))('an issue of an epic whose project was archived, by %s', async (method, { world }) => {
    const { ann, project, issue, epic } = await epicAbove(world)
    const placed = await openIssue(world, { project: issue.project })
    const add = async ({ id }: { id: number }): Promise<number> =>
      (await world.root.post(`${epic.at}/issues/${id}`)).json.id
    const ids = { issue: issue.id, other: await add(placed), link: method === 'POST' ? 0 : await add(issue) }
    const before = (await world.root.get(`${epic.at}/issues`)).json.map(({ id }: { id: number }) => id)
    const refused = await answerDuring(
      world,
      () => ofEpic[method]!(ann, epic.at, ids),
      () => world.root.post(`/projects/${project.id}/archive`),
      (tx) => (method === 'PUT' ? lockRow(tx, 'epics', epic.id) : lockRow(tx, 'issues', issue.id)),
    )
    expect(refused.status).toBe(403)
    expect((await world.root.get(`${epic.at}/issues`)).json.map(({ id }: { id: number }) => id)).toEqual(before)
  })

  test.for(['move', 'clone'] as const)('the project of an issue, by %s', async (verb, { world }) => {
    const ann = await world.user()
    const there = await openIssue(world, { members: [[ann, 'reporter']] })
    const own = await world.project({ members: [[ann, 'maintainer']] })
    const refused = await answerDuring(
      world,
      () => ann.post(`${there.at}/${verb}`, { to_project_id: own.id }),
      removed(world, 'projects', there.project, ann),
      (tx) => lockRow(tx, 'issues', there.id),
    )
    expect(refused.status).toBe(400)
    expect((await world.root.get(`/projects/${own.id}/issues`)).json).toEqual([])
  })

  test.for(['own issue', 'neighbour'] as const)('the order of issues, to their %s', async (which, { world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public' })
    const of = async () => storedProject(world, { group, members: [[ann, 'reporter']] })
    const [moved, next] = [
      await openIssue(world, { project: await of() }),
      await openIssue(world, { project: await of() }),
    ]
    const lost = which === 'own issue' ? moved : next
    const refused = await answerDuring(
      world,
      () => ann.put(`${moved.at}/reorder`, { move_after_id: next.id }),
      removed(world, 'projects', lost.project, ann),
      (tx) => lockOrder(tx, moved.project.id),
    )
    expect([403, 404]).toContain(refused.status)
  })

  test('the target of a merge request', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'developer']] })
    const target = await storedProject(world, { group, visibility: 'private' })
    const { base } = await openMergeRequest(world, { project: target })
    const source = await forkOf(world, target, ann)
    source.repository.commit({ c: 'c\n' }, { branch: 'fix', parents: [base], message: 'c\n' })
    const input = { title: 'b', source_branch: 'fix', target_branch: 'main', target_project_id: target.id }
    const refused = await answerDuring(
      world,
      () => ann.post(`/projects/${source.id}/merge_requests`, input),
      removed(world, 'groups', group, ann),
      (tx) => lockRow(tx, 'projects', target.id),
    )
    expect(refused.status).toBe(404)
    expect((await world.root.get(`/projects/${target.id}/merge_requests`)).json).toHaveLength(1)
  })
})

test.for(['POST', 'PATCH'] as const)(
  'a rule for a branch grants nothing to a user who left the project while %s waited',
  async (method, { world }) => {
    const bob = await world.user()
    const group = await world.group({ members: [[bob, 'developer']] })
    const project = await world.project({ group, visibility: 'private' })
    const at = `/projects/${project.id}/protected_branches`
    const name = 'stable'
    const { json: rule } = method === 'PATCH' ? await world.root.post(at, { name }) : { json: undefined }
    const allowed_to_push = [{ user_id: bob.id }]
    const refused = await answerDuring(
      world,
      () =>
        method === 'POST'
          ? world.root.post(at, { name, allowed_to_push })
          : world.root.send('PATCH', `${at}/${name}`, { json: { allowed_to_push } }),
      removed(world, 'groups', group, bob),
      (tx) => (method === 'POST' ? lockRow(tx, 'projects', project.id) : lockRow(tx, 'protected_refs', rule.id)),
    )
    expect(refused).toMatchObject({ status: 422, json: { error: 'User is not a member of the project' } })
  },
)

test('an author who became a reporter while the request waited asks only developers to approve', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const { project, id, at } = await openMergeRequest(world, {
    members: [
      [ann, 'developer'],
      [bob, 'reporter'],
    ],
    assignee_ids: [ann.id],
  })
  const asked = await answerDuring(
    world,
    () => ann.put(`${at}/approvers`, { approver_ids: [bob.id], approver_group_ids: [] }),
    () => world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 }),
    (tx) => lockRow(tx, 'merge_requests', id),
  )
  expect(asked).toMatchObject({ status: 200, json: { approvers: [] } })
})

describe('a member who was demoted while the request waited sets nothing that the new role cannot set', () => {
  const demoted =
    (world: World, { id }: { id: number }, ann: Client, access_level: number) =>
    () =>
      world.root.put(`/groups/${id}/members/${ann.id}`, { access_level })

  test.for([
    ['labels of a new issue', 'reporter', 10, { labels: 'bug' }],
    ['number of a new issue', 'owner', 20, { iid: 77 }],
  ] as const)('%s', async ([, level, now, attributes], { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, level]] })
    const project = await world.project({ group })
    const refused = await answerDuring(
      world,
      () => ann.post(`/projects/${project.id}/issues`, { title: 'new', ...attributes }),
      demoted(world, group, ann, now),
      (tx) => lockRow(tx, 'projects', project.id, 'no key update'),
    )
    expect(refused.status).toBe(403)
    expect((await world.root.get(`/projects/${project.id}/issues`)).json).toEqual([])
  })

  test('times of an issue', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
    const { id, at } = await openIssue(world, { project: await storedProject(world, { group }) })
    const refused = await answerDuring(
      world,
      () => ann.put(at, { title: 'old', updated_at: '2020-01-02T03:04:05Z' }),
      demoted(world, group, ann, 20),
      (tx) => lockRow(tx, 'issues', id),
    )
    expect(refused.status).toBe(403)
    expect((await world.root.get(at)).json.title).not.toBe('old')
  })
})

describe('an owner who became a reporter while the request waited sets no time', () => {
  const time = '2020-01-02T03:04:05.000Z'
  const becomesReporter = (world: World, group: { id: number }, ann: Client) => () =>
    world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 20 })

  /** What Ann comments on, and the row for which the comment waits. */
  const opened: Record<
    string,
    (world: World, project: StoredProject, group: TestGroup) => Promise<{ at: string; row: [string, number] }>
  > = {
    async 'an issue'(world, project) {
      const { at, id } = await openIssue(world, { project })
      return { at, row: ['issues', id] }
    },
    async 'a merge request'(world, project) {
      const { at, id } = await openMergeRequest(world, { project })
      return { at, row: ['merge_requests', id] }
    },
    async 'an epic'(world, _, group) {
      const { at, id } = await openEpic(world, { group })
      return { at, row: ['epics', id] }
    },
    async 'a snippet'(world, project) {
      const files = [{ file_path: 'a', content: 'a' }]
      const at = `/projects/${project.id}/snippets`
      const { id } = (await world.root.post(at, { title: 'a', visibility: 'public', files })).json
      return { at: `${at}/${id}`, row: ['snippets', id] }
    },
    async 'a commit'(world, project) {
      const { head } = await openMergeRequest(world, { project })
      return { at: `/projects/${project.id}/repository/commits/${head}`, row: ['projects', project.id] }
    },
  }
  const replies = ['an issue', 'a merge request', 'an epic', 'a snippet'].map((noun) => [noun, 'reply'] as const)

  test.for([...Object.keys(opened).map((noun) => [noun, 'discussion'] as const), ...replies])(
    'of a comment on %s, as a %s',
    async ([noun, how], { world }) => {
      const ann = await world.user()
      const group = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
      const project = await storedProject(world, { group, visibility: 'public' })
      const { at, row } = await opened[noun]!(world, project, group)
      const begun = how === 'reply' ? (await ann.post(`${at}/discussions`, { body: 'first' })).json.id : undefined
      const note = await answerDuring(
        world,
        () =>
          ann.post(begun ? `${at}/discussions/${begun}/notes` : `${at}/discussions`, { body: 'b', created_at: time }),
        becomesReporter(world, group, ann),
        (tx) => lockRow(tx, ...row),
      )
      expect(note.status).toBe(201)
      expect((begun ? note.json : note.json.notes[0]).created_at).not.toBe(time)
    },
  )

  test('of a new epic', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
    const made = await answerDuring(
      world,
      () => ann.post(`/groups/${group.id}/epics`, { title: 'new', created_at: time }),
      becomesReporter(world, group, ann),
      (tx) => lockTable(tx, 'epics'),
    )
    expect(made.status).toBe(201)
    expect(made.json.created_at).not.toBe(time)
  })

  test('of an epic that changes', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
    const { at, id } = await openEpic(world, { group })
    const changed = await answerDuring(
      world,
      () => ann.put(at, { title: 'new', updated_at: time }),
      becomesReporter(world, group, ann),
      (tx) => lockRow(tx, 'epics', id),
    )
    expect(changed).toMatchObject({ status: 200, json: { title: 'new' } })
    expect(changed.json.updated_at).not.toBe(time)
  })
})

test.for([
  ['text', { body: 'changed' }],
  ['state', { resolved: true }],
] as const)(
  '403 to a new %s of a note by a maintainer who became a reporter while the change waited',
  async ([, change], { world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, 'maintainer']] })
    const project = await storedProject(world, { group, visibility: 'public' })
    const { at, id } = await openMergeRequest(world, { project })
    const discussion = (await world.root.post(`${at}/discussions`, { body: 'first' })).json
    const note = `${at}/discussions/${discussion.id}/notes/${discussion.notes[0].id}`
    const refused = await answerDuring(
      world,
      () => ann.put(note, change),
      () => world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 20 }),
      (tx) => lockRow(tx, 'merge_requests', id),
    )
    expect(refused.status).toBe(403)
    expect((await world.root.get(`${at}/discussions/${discussion.id}`)).json.notes).toMatchObject([
      { body: 'first', resolved: false },
    ])
  },
)

test('404 to a description of a group by an owner who was removed while the change waited', async ({ world }) => {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'owner']] })
  const refused = await answerDuring(
    world,
    () => ann.put(`/groups/${group.id}`, { description: 'b' }),
    removed(world, 'groups', group, ann),
    (tx) => lockGroup(tx, group.id),
  )
  expect(refused.status).toBe(404)
})

test('400 to templates of a project that the owner of the group cannot read any more after a wait', async ({
  world,
}) => {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'owner']] })
  const project = await world.project({ members: [[ann, 'developer']] })
  const refused = await answerDuring(
    world,
    () => ann.put(`/groups/${group.id}`, { file_template_project_id: project.id }),
    removed(world, 'projects', project, ann),
    (tx) => lockGroup(tx, group.id),
  )
  expect(refused.status).toBe(400)
})

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

describe('a member who lost a right while the request waited', () => {
  test('does not withdraw an award', async ({ world }) => {
    const { ann, there, leaves } = await twoIssues(world)
    const { id } = (await ann.post(`${there.at}/award_emoji`, { name: 'tada' })).json
    const refused = await answerDuring(
      world,
      () => ann.delete(`${there.at}/award_emoji/${id}`),
      leaves,
      (tx) => lockRow(tx, 'award_emoji', id),
    )
    expect(refused.status).toBe(404)
    expect((await world.root.get(`${there.at}/award_emoji`)).json).toHaveLength(1)
  })

  test('resolves no discussions of the merge request that a new issue continues', async ({ world }) => {
    const ann = await world.user()
    const { project, id, iid, at } = await openMergeRequest(world, { members: [[ann, 'developer']] })
    await world.root.post(`${at}/discussions`, { body: 'Why?' })
    const made = await answerDuring(
      world,
      () =>
        ann.post(`/projects/${project.id}/issues`, { title: 'Later', merge_request_to_resolve_discussions_of: iid }),
      () => world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 }),
      (tx) => lockRow(tx, 'merge_requests', id, 'no key update'),
    )
    expect(made.status).toBe(201)
    expect((await world.root.get(`${at}/discussions`)).json[0].notes[0].resolved).toBe(false)
  })

  test('does not let others push to a source branch to which they cannot push any more', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const source = await forkOf(world, project, await world.user())
    await world.root.post(`/projects/${source.id}/members`, { user_id: ann.id, access_level: 30 })
    const { id, at } = await openMergeRequest(world, { project, source, author: ann })
    const answer = await answerDuring(
      world,
      () => ann.put(at, { allow_collaboration: true, title: 'Renamed' }),
      removed(world, 'projects', source, ann),
      (tx) => lockRow(tx, 'merge_requests', id),
    )
    expect(answer).toMatchObject({ status: 200, json: { title: 'Renamed', allow_collaboration: false } })
  })
})
