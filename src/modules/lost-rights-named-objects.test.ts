import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { removed, twoIssues } from '../../test/lost-rights.ts'
import { lockRow } from '../../test/tables/instance.ts'
import { type Answer, type Client, test, type World } from '../../test/world.ts'
import type { Level } from '../access/levels.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { lockGroup } from './groups/index.ts'
import { openEpic } from './planning/epics/testing.ts'
import { lockOrder } from './planning/issue-order/queries.ts'
import { openIssue } from './planning/issues/testing.ts'
import { storedProject } from './repository/commits/testing.ts'
import { forkOf, openMergeRequest } from './review/merge-requests/testing.ts'

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

test('an author who was removed from the source project while the request waited lets no others push to its branch', async ({
  world,
}) => {
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
