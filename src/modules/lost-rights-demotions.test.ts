import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { lockRow, lockTable } from '../../test/tables/instance.ts'
import { type Client, type TestGroup, test, type World } from '../../test/world.ts'
import { openEpic } from './planning/epics/testing.ts'
import { openIssue } from './planning/issues/testing.ts'
import { type StoredProject, storedProject } from './repository/commits/testing.ts'
import { openMergeRequest } from './review/merge-requests/testing.ts'

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

test('a member who became a reporter while the request waited resolves no discussions of the merge request that a new issue continues', async ({
  world,
}) => {
  const ann = await world.user()
  const { project, id, iid, at } = await openMergeRequest(world, { members: [[ann, 'developer']] })
  await world.root.post(`${at}/discussions`, { body: 'Why?' })
  const made = await answerDuring(
    world,
    () => ann.post(`/projects/${project.id}/issues`, { title: 'Later', merge_request_to_resolve_discussions_of: iid }),
    () => world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 }),
    (tx) => lockRow(tx, 'merge_requests', id, 'no key update'),
  )
  expect(made.status).toBe(201)
  expect((await world.root.get(`${at}/discussions`)).json[0].notes[0].resolved).toBe(false)
})
