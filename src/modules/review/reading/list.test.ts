import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import {
  addApproval,
  addApprover,
  addMilestones,
  addThumbsUp,
  changeMergeRequest,
} from '../../../../test/tables/review.ts'
import { type Client, test, unique, World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'
import { checkMergeability } from '../merging/check.ts'

const iids = ({ json }: { json: any }) => json.map(({ iid }: any) => iid)
const ids = ({ json }: { json: any }) => json.map(({ id }: any) => id)

/** Three merge requests of a project, by its developer Dan and an administrator. */
async function three(world: World) {
  const [dan, eve] = [await world.user(), await world.user()]
  const members: [Client, 'developer'][] = [
    [dan, 'developer'],
    [eve, 'developer'],
  ]
  const project = await storedProject(world, { members })
  const open = (author: Client, branch: string, more: object) =>
    openMergeRequest(world, { project, author, branch, files: { [branch]: 'x\n' }, ...more })
  const first = await open(dan, 'one', { title: 'WIP: Apples', labels: 'Fruit,Red', assignee_ids: [eve.id] })
  const second = await open(eve, 'two', { title: 'Pears', description: 'Like apples', labels: 'fruit' })
  const third = await open(world.root, 'three', { title: 'Stones' })
  return { dan, eve, project, first, second, third, at: `/projects/${project.id}/merge_requests` }
}

describe('GET /projects/:id/merge_requests', () => {
  test('D3-MR-LIST-FIELDS: merge requests are listed newest first', async ({ world }) => {
    const { dan, at, first } = await three(world)
    const { status, json } = await dan.get(at)
    expect(status).toBe(200)
    expect(json.map(({ iid }: any) => iid)).toEqual([3, 2, 1])
    const { merge_status: _, ...record } = first.record
    expect(record).toMatchObject((({ merge_status: _, ...rest }) => rest)(json[2]))
    expect(json[2]).toMatchObject({ has_conflicts: false, blocking_discussions_resolved: true })
    expect(json[2]).not.toHaveProperty('merge_error')
  })

  test('D3-MR-VIEW-SIMPLE: view=simple lists few fields', async ({ world }) => {
    const { dan, at, second } = await three(world)
    const { json } = await dan.get(`${at}?view=simple&iids[]=2`)
    expect(json).toEqual([
      {
        id: second.id,
        iid: 2,
        project_id: second.project.id,
        title: 'Pears',
        description: 'Like apples',
        state: 'opened',
        created_at: second.record.created_at,
        updated_at: second.record.updated_at,
        web_url: second.record.web_url,
      },
    ])
  })

  test('merge requests are filtered by each parameter', async ({ world }) => {
    const { dan, eve, at, first } = await three(world)
    const { created_at: made } = first.record
    const after = new Date(Date.parse(made) + 1).toISOString()
    for (const [query, expected] of [
      ['state=opened', [3, 2, 1]],
      ['state=closed', []],
      ['state=locked', []],
      ['state=all&sort=asc', [1, 2, 3]],
      ['iids[]=1&iids[]=3&iids[]=77', [3, 1]],
      ['labels=fruit', [2, 1]],
      ['labels=FRUIT,red', [1]],
      ['labels=none', [3]],
      ['labels=No%20Label', [3]],
      ['labels=Any', [2, 1]],
      ['labels=nothing', []],
      ['milestone=None', [3, 2, 1]],
      ['milestone=any', []],
      ['milestone=Any%20Milestone', []],
      ['milestone=1.0', []],
      ['milestone=%23upcoming', []],
      ['milestone=%23started', []],
      [`author_id=${dan.id}`, [1]],
      [`author_username=${eve.username.toUpperCase()}`, [2]],
      ['author_username=no-such-user', []],
      ['author_id=None', []],
      [`assignee_id=${eve.id}`, [1]],
      ['assignee_id=0', [3, 2]],
      ['assignee_id=none', [3, 2]],
      ['assignee_id=Any', [1]],
      [`assignee_username[]=${eve.username}`, [1]],
      [`assignee_username=${dan.username}`, []],
      ['scope=created_by_me', [1]],
      ['scope=created-by-me', [1]],
      [`scope=created_by_me&author_id=${eve.id}`, []],
      ['scope=assigned_to_me', []],
      ['source_branch=two', [2]],
      ['target_branch=main&source_branch=three', [3]],
      ['target_branch=other', []],
      [`source_project_id=${first.project.id}`, [3, 2, 1]],
      ['source_project_id=1', []],
      ['search=apples', [2, 1]],
      ['search=apples%20like', [2]],
      ['search=appl%25', []],
      ['wip=yes', [1]],
      ['wip=no', [3, 2]],
      ['my_reaction_emoji=None', [3, 2, 1]],
      ['my_reaction_emoji=thumbsup', []],
      [`created_before=${made}`, [1]],
      [`created_after=${after}`, [3, 2]],
      [`updated_after=${made}`, [3, 2, 1]],
      ['updated_before=2000-01-01', []],
    ] as const)
      expect.soft(iids(await dan.get(`${at}?${query}`)), query).toEqual(expected)
  })

  test('D3-MR-STATES, D3-MR-LOCKED: filter by state; locked ones are being merged', async ({ world }) => {
    const { dan, at, first, second, third } = await three(world)
    for (const [{ id }, state] of [
      [first, 'locked'],
      [second, 'merged'],
    ] as const)
      await changeMergeRequest(world, id, { state: state })
    await dan.put(third.at, { state_event: 'close' })
    const open = await openMergeRequest(world, { project: first.project, branch: 'four', files: { four: 'x' } })
    for (const [state, expected] of [
      ['opened', open],
      ['closed', third],
      ['merged', second],
      ['locked', first],
    ] as const) {
      const { json } = await dan.get(`${at}?state=${state}`)
      expect(json.map((one: any) => [one.id, one.state])).toEqual([[expected.id, state]])
    }
    expect(iids(await dan.get(`${at}?state=all`))).toEqual([4, 3, 2, 1])
  })

  test('D3-MR-WIP: filter by work in progress', async ({ world }) => {
    const { dan, at, first, second, third } = await three(world)
    expect(iids(await dan.get(`${at}?wip=yes`))).toEqual([1])
    expect(iids(await dan.get(`${at}?wip=no`))).toEqual([3, 2])
    const all = `/merge_requests?scope=all&per_page=3&created_after=${first.record.created_at}`
    expect(ids(await dan.get(`${all}&wip=no`))).toEqual([third.id, second.id])
    expect(ids(await dan.get(`${all}&wip=yes`))).toContain(first.id)
  })

  test('merge requests are filtered by milestones of the project and groups, and their dates', async ({ world }) => {
    const { dan, at, project } = await three(world)
    await addMilestones(world, project.id)
    for (const [milestone, expected] of [
      ['1.0', [1]],
      ['Any', [2, 1]],
      ['%23upcoming', [1]],
      ['%23started', [1]],
      ['No%20Milestone', [3]],
    ] as const)
      expect.soft(iids(await dan.get(`${at}?milestone=${milestone}`)), milestone).toEqual(expected)
    expect((await dan.get(`${at}?iids[]=1`)).json[0].milestone).toMatchObject({ title: '1.0', project_id: project.id })
  })

  test("merge requests are filtered by the caller's own award emoji", async ({ world }) => {
    const { dan, eve, at, first } = await three(world)
    await addThumbsUp(world, first.id, dan.id)
    expect(iids(await dan.get(`${at}?my_reaction_emoji=Any`))).toEqual([1])
    expect(iids(await dan.get(`${at}?my_reaction_emoji=thumbsup`))).toEqual([1])
    expect(iids(await eve.get(`${at}?my_reaction_emoji=thumbsup`))).toEqual([])
    expect((await eve.get(`${at}?iids[]=1`)).json[0]).toMatchObject({ upvotes: 1, downvotes: 0 })
  })

  test('with_labels_details lists labels as records', async ({ world }) => {
    const { dan, at } = await three(world)
    const { json } = await dan.get(`${at}?with_labels_details=true&iids[]=1`)
    expect(json[0].labels).toEqual([
      {
        id: expect.any(Number),
        name: 'Fruit',
        color: '#428BCA',
        description: null,
        description_html: '',
        text_color: '#FFFFFF',
      },
      expect.objectContaining({ name: 'Red' }),
    ])
  })

  test('400 for mutually exclusive or invalid filters of merge requests', async ({ world }) => {
    const { dan, at } = await three(world)
    for (const [query, error] of [
      ['author_id=1&author_username=x', 'author_id, author_username are mutually exclusive'],
      ['assignee_id=1&assignee_username=x', 'assignee_id, assignee_username are mutually exclusive'],
      ['approved_by_ids[]=x', "approved_by_ids should be an array, 'None' or 'Any'"],
      [
        `${[1, 2, 3, 4, 5, 6].map((id) => `approved_by_ids[]=${id}`).join('&')}`,
        'approved_by_ids allows 5 values at most, but found 6',
      ],
      ['assignee_id=x', "assignee_id should be an integer, 'None' or 'Any'"],
      ['state=merged,closed', 'state does not have a valid value'],
      ['order_by=title', 'order_by does not have a valid value'],
      ['scope=mine', 'scope does not have a valid value'],
      ['wip=perhaps', 'wip does not have a valid value'],
      ['created_after=yesterday', 'created_after is invalid'],
    ])
      expect.soft(await dan.get(`${at}?${query}`), query).toMatchObject({ status: 400, json: { error } })
  })

  test('D3-MR-APPROVERS, D3-MR-APPROVED-BY-FIVE: filter by approvers and approvals', async ({ world }) => {
    const { dan, eve, at, first, second } = await three(world)
    await addApprover(world, first.id, eve.id)
    await addApproval(world, second.id, eve.id)
    await addApproval(world, second.id, dan.id)
    for (const [query, expected] of [
      ['approver_ids=Any', [1]],
      ['approver_ids=none', [3, 2]],
      [`approver_ids[]=${eve.id}`, [1]],
      ['approved_by_ids=Any', [2]],
      ['approved_by_ids=None', [3, 1]],
      [`approved_by_ids[]=${eve.id}&approved_by_ids[]=${dan.id}`, [2]],
      [`approved_by_ids[]=${eve.id}&approved_by_ids[]=1`, []],
    ] as const)
      expect.soft(iids(await dan.get(`${at}?${query}`)), query).toEqual(expected)
  })

  test('approver_ids finds users whom an approval rule names, as far as it applies to the merge request', async ({
    world,
  }) => {
    const { dan, eve, project, at, second } = await three(world)
    const [rob, ron] = [await world.user(), await world.user()]
    for (const { id } of [rob, ron])
      await world.root.post(`/projects/${project.id}/members`, { user_id: id, access_level: 20 })
    const found = async (...users: Client[]) =>
      iids(await dan.get(`${at}?${users.map(({ id }) => `approver_ids[]=${id}`).join('&')}`))
    const rule = async (on: string, name: string, users: Client[], more = {}) =>
      (
        await world.root.post(`${on}/approval_rules`, {
          name,
          approvals_required: 1,
          user_ids: users.map(({ id }) => id),
          ...more,
        })
      ).json.id
    await rule(second.at, 'Own', [eve, rob])
    expect(await found(eve)).toEqual([2])
    expect(await found(eve, rob)).toEqual([2])
    expect(await found(eve, ron)).toEqual([])
    expect(iids(await dan.get(`${at}?approver_ids=Any`))).toEqual([2])
    expect(iids(await dan.get(`${at}?approver_ids=None`))).toEqual([3, 1])
    const ofProject = await rule(`/projects/${project.id}`, 'All', [ron])
    expect(await found(ron)).toEqual([3, 2, 1])
    expect(await found(ron, eve)).toEqual([2])
    expect(iids(await dan.get(`${at}?approver_ids=None`))).toEqual([])
    // The rule of a merge request replaces that of the project.
    await rule(second.at, 'Replaced', [rob], { approval_project_rule_id: ofProject })
    expect(await found(ron)).toEqual([3, 1])
    const stable = (await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'stable' })).json.id
    await world.root.put(`/projects/${project.id}/approval_rules/${ofProject}`, { protected_branch_ids: [stable] })
    expect(await found(ron)).toEqual([])
  })

  test('on the free plan approval filters are ignored and there is one assignee', async () => {
    await using free = await World.start({ STITHY_PLAN: 'free' })
    const { project, iid } = await openMergeRequest(free, { approvals_before_merge: 2 })
    const at = `/projects/${project.id}/merge_requests`
    expect(await free.root.get(`${at}?assignee_username[]=a&assignee_username[]=b`)).toMatchObject({
      status: 400,
      json: { error: 'assignee_username allows one value, but found 2: a, b' },
    })
    expect(iids(await free.root.get(`${at}?approver_ids=Any&approved_by_ids=x`))).toEqual([iid])
    expect((await free.root.get(`${at}/${iid}`)).json).not.toHaveProperty('approvals_before_merge')
  })
})

test('D3-MR-MERGE-STATUS: a list starts a check, whose result the next list shows', async ({ world }) => {
  const { project, iid, id } = await openMergeRequest(world)
  const at = `/projects/${project.id}/merge_requests`
  const status = async () => (await world.root.get(at)).json.map((one: any) => [one.iid, one.merge_status])
  expect(await status()).toEqual([[iid, 'unchecked']])
  expect(await status()).toEqual([[iid, 'checking']])
  const [job] = await world.jobs(`check_mergeability:${id}`)
  await checkMergeability.run(job!.payload, await contextFor(world, null))
  const { updated_at } = (await world.root.get(at)).json[0]
  expect(await status()).toEqual([[iid, 'can_be_merged']])
  // This does not count as a change of the merge request.
  expect(updated_at).toBe((await world.root.get(`${at}/${iid}`)).json.created_at)
})

describe('GET /merge_requests', () => {
  test("D3-MR-SCOPE: the caller's merge requests unless scope is given", async ({ world }) => {
    const { dan, eve, first, second, third } = await three(world)
    expect(ids(await dan.get('/merge_requests'))).toEqual([first.id])
    expect(ids(await eve.get('/merge_requests?scope=assigned_to_me'))).toEqual([first.id])
    expect(ids(await dan.get('/merge_requests?scope=all&per_page=3'))).toEqual([third.id, second.id, first.id])
    expect((await dan.get('/merge_requests')).json[0].references).toEqual({
      short: '!1',
      relative: `${first.project.full_path}!1`,
      full: `${first.project.full_path}!1`,
    })
  })

  test('search covers the fields named by `in`', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const title = await openMergeRequest(world, { title: `About ${word}` })
    const text = await openMergeRequest(world, { description: `About ${word}` })
    const at = `/merge_requests?scope=all&search=${word}`
    expect(ids(await world.root.get(at))).toEqual([text.id, title.id])
    expect(ids(await world.root.get(`${at}&in=title`))).toEqual([title.id])
    expect(ids(await world.root.get(`${at}&in=description`))).toEqual([text.id])
    expect(ids(await world.root.get(`${at}&in=title,description`))).toEqual([text.id, title.id])
    expect(ids(await world.root.get(`${at}&in=description,title`))).toEqual([text.id, title.id])
    expect(ids(await world.root.get(`${at}&in=author,title`))).toEqual([title.id])
    expect(ids(await world.root.get(`${at}&in=author`))).toEqual([text.id, title.id])
  })

  test('D3-MR-AUTH: 401 for merge requests without a token', async ({ world }) => {
    const { at, project } = await openMergeRequest(world)
    for (const path of ['/merge_requests?scope=all', `/projects/${project.id}/merge_requests`, at])
      expect(await world.anonymous.get(path), path).toMatchObject({ status: 401 })
  })

  test('merge requests are listed if the caller can read them', async ({ world }) => {
    const [guest, reporter, stranger] = [await world.user(), await world.user(), await world.user()]
    const members: [Client, Level][] = [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ]
    const open = await openMergeRequest(world, { members })
    const closed = await openMergeRequest(world, { members, visibility: 'private' })
    const membersOnly = await openMergeRequest(world, { members })
    const off = await openMergeRequest(world, { members })
    for (const [of, level] of [
      [membersOnly, 'private'],
      [off, 'disabled'],
    ] as const)
      await world.root.put(`/projects/${of.project.id}`, { merge_requests_access_level: level })
    const all = [open, closed, membersOnly, off]
    for (const [who, seen] of [
      [stranger, [open]],
      [guest, [open]],
      [reporter, [membersOnly, closed, open]],
      [world.root, [membersOnly, closed, open]],
    ] as const) {
      const found: number[] = ids(await who.get('/merge_requests?scope=all&per_page=100'))
      expect(found.filter((id) => all.some((one) => one.id === id))).toEqual(seen.map(({ id }) => id))
      for (const one of all) expect((await who.get(one.at)).status === 200).toBe(seen.some(({ id }) => id === one.id))
    }
  })
})

describe('GET /groups/:id/merge_requests', () => {
  test('D3-MR-GROUP-SUBGROUPS: includes subgroups, and archived projects on request', async ({ world }) => {
    const ann = await world.user()
    const outer = await world.group({ visibility: 'public', members: [[ann, 'developer']] })
    const inner = await world.group({ visibility: 'public', parent: outer })
    const one = await openMergeRequest(world, { project: await storedProject(world, { group: outer }), title: 'WIP' })
    const two = await openMergeRequest(world, { project: await storedProject(world, { group: inner }), author: ann })
    await openMergeRequest(world)
    const at = `/groups/${outer.id}/merge_requests`
    expect(ids(await ann.get(at))).toEqual([two.id, one.id])
    expect(ids(await ann.get(`${at}?scope=created_by_me`))).toEqual([two.id])
    expect((await ann.get(at)).json[0].references.relative).toBe(
      `${two.project.full_path.slice(outer.full_path.length + 1)}!1`,
    )
    expect(ids(await ann.get(`/groups/${inner.id}/merge_requests`))).toEqual([two.id])
    // Not a parameter of this list.
    expect(ids(await ann.get(`${at}?wip=yes`))).toEqual([two.id, one.id])
    await changeProject(world, one.project.id, { archived: true })
    expect(ids(await ann.get(at))).toEqual([two.id])
    expect(ids(await ann.get(`${at}?non_archived=false`))).toEqual([two.id, one.id])
  })
})

describe('GET /projects/:id/repository/commits/:sha/merge_requests', () => {
  test('D1-COMMIT-MRS: merge requests that contain the commit or created it', async ({ world }) => {
    const { project, head, base, id } = await openMergeRequest(world)
    const other = await openMergeRequest(world, { project, branch: 'other' })
    const at = (sha: string) => `/projects/${project.id}/repository/commits/${sha}/merge_requests`
    const { json } = await world.root.get(at(head))
    expect(json).toEqual([expect.objectContaining({ id, references: expect.objectContaining({ relative: '!1' }) })])
    expect(ids(await world.root.get(at('topic')))).toEqual([id])
    expect(ids(await world.root.get(at(base)))).toEqual([])
    await changeMergeRequest(world, other.id, { merge_commit_oid: base })
    expect(ids(await world.root.get(at(base)))).toEqual([other.id])
    expect(await world.root.get(at('none'))).toMatchObject({ status: 404, json: { message: '404 Commit Not Found' } })
    expect(await world.anonymous.get(at(head))).toMatchObject({ status: 200, json: [] })
  })

  test('merge requests of a commit in a fork are listed in the target project', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, ann)
    const { head, id } = await openMergeRequest(world, { project, source: fork, author: ann })
    const of = (projectId: number) => ann.get(`/projects/${projectId}/repository/commits/${head}/merge_requests`)
    expect(ids(await of(project.id))).toEqual([id])
    expect(ids(await of(fork.id))).toEqual([])
  })
})

describe('GET /merge_requests?scope=all', () => {
  test('lists the merge requests of a project as long as the caller may see them', async ({ world }) => {
    const began = new Date().toISOString()
    const { project, first, second, third } = await three(world)
    const other = await world.user()
    const seen = async (): Promise<number[]> => {
      // Other tests have left merge requests that all users may see.
      const { json, headers } = await other.get(
        `/merge_requests?scope=all&state=opened&order_by=updated_at&created_after=${began}`,
      )
      expect(Number(headers['x-total'])).toBe(json.length)
      return ids({ json })
    }
    const all = [third.id, second.id, first.id]
    const edit = async (changes: object) =>
      expect((await world.root.put(`/projects/${project.id}`, changes)).status).toBe(200)

    await edit({ visibility: 'private' })
    expect(await seen()).toEqual([])
    await edit({ visibility: 'internal' })
    expect((await seen()).toSorted()).toEqual(all.toSorted())
    await edit({ merge_requests_access_level: 'private' })
    expect(await seen()).toEqual([])
    await edit({ merge_requests_access_level: 'enabled' })
    expect((await seen()).toSorted()).toEqual(all.toSorted())
    await edit({ visibility: 'private' })
    await world.root.post(`/projects/${project.id}/members`, { user_id: other.id, access_level: 20 })
    expect((await seen()).toSorted()).toEqual(all.toSorted())
    await world.root.delete(`/projects/${project.id}/members/${other.id}`)
    expect(await seen()).toEqual([])
  })
})
