import { describe, expect } from 'vitest'
import { changeIssue, unassignIssue } from '../../../../test/tables/issues.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, test, unique, World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { openIssue } from '../issues/testing.ts'

const iids = ({ json }: { json: any }) => json.map(({ iid }: any) => iid)
const ids = ({ json }: { json: any }) => json.map(({ id }: any) => id)

/** A public project with three issues: by a developer, by a reporter, and by an administrator. */
async function three(world: World) {
  const [dan, eve] = [await world.user(), await world.user()]
  const members: [Client, Level][] = [
    [dan, 'developer'],
    [eve, 'reporter'],
  ]
  const project = await storedProject(world, { members })
  const open = (author: Client, more: object) => openIssue(world, { project, author, ...more })
  const first = await open(dan, { title: 'Apples', labels: 'Fruit,Red', assignee_ids: [eve.id] })
  const second = await open(eve, { title: 'Pears', description: 'Like apples', labels: 'fruit' })
  const third = await open(world.root, { title: 'Stones' })
  return { dan, eve, project, first, second, third, at: `/projects/${project.id}/issues` }
}

test.for(['public', 'internal', 'private'] as const)(
  'an issue of a project that is %s is listed once to its members',
  async (visibility, { world }) => {
    const ann = await world.user()
    const project = await world.project({ visibility, members: [[ann, 'developer']] })
    const { id } = (await ann.post(`/projects/${project.id}/issues`, { title: 'Once' })).json
    expect(ids(await ann.get('/issues?scope=all')).filter((each: number) => each === id)).toEqual([id])
  },
)

test('413 to a page of long issues, of the project, found, or to do; a lower per_page reads all', async ({ world }) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'developer']] })
  const at = `/projects/${project.id}/issues`
  const made: number[] = []
  for (let count = 0; count < 45; count++) {
    const { id, iid } = (await ann.post(at, { title: 'Long' })).json
    await ann.post(`${at}/${iid}/todo`)
    made.unshift(id)
  }
  await changeIssue(world, made, { description: 'x'.repeat(1_000_000) })
  for (const list of [at, `/projects/${project.id}/search?scope=issues&search=Long`, '/todos']) {
    const query = list.includes('?') ? '&' : '?'
    expect(await ann.get(`${list}${query}per_page=100`)).toMatchObject({
      status: 413,
      json: { message: '413 The records are too large for one list: use a lower per_page' },
    })
  }
  const pages = [await ann.get(at), await ann.get(`${at}?page=2`), await ann.get(`${at}?page=3`)]
  expect(pages.flatMap(ids)).toEqual(made)
})

describe('GET /projects/:id/issues', () => {
  test('D3-ISSUES-STATE-ABSENT, D3-ISSUE-STATES: issues of every state, newest first, in the form of one issue', async ({
    world,
  }) => {
    const { dan, at, first, second } = await three(world)
    const listed = await dan.get(at)
    expect(iids(listed)).toEqual([3, 2, 1])
    const { subscribed: _, ...record } = first.record
    expect(listed.json[2]).toEqual(record)
    expect(listed.headers).toMatchObject({ 'x-total': '3', 'x-per-page': '20' })
    await changeIssue(world, second.id, { state: 'closed' })
    expect(iids(await dan.get(`${at}?state=closed`))).toEqual([2])
    expect(iids(await dan.get(`${at}?state=opened`))).toEqual([3, 1])
    expect(iids(await dan.get(`${at}?state=all&sort=asc`))).toEqual([1, 2, 3])
    expect(await dan.get(`${at}?state=merged`)).toMatchObject({
      status: 400,
      json: { error: 'state does not have a valid value' },
    })
  })

  test('D3-ISSUES-LABELS-ALL, D3-ISSUES-LABELS-SPECIAL: all labels match in any case; None and Any are special', async ({
    world,
  }) => {
    const { dan, at } = await three(world)
    for (const [query, expected] of [
      ['labels=FRUIT', [2, 1]],
      ['labels=fruit,RED', [1]],
      ['labels[]=fruit&labels[]=red', [1]],
      ['labels=None', [3]],
      ['labels=No%2BLabel', [3]],
      ['labels=any', [2, 1]],
      ['labels=missing', []],
      ['not[labels]=red', [3, 2]],
      ['not[labels]=fruit,red', [3, 2]],
      ['not[labels]=None', [2, 1]],
    ] as const)
      expect.soft(iids(await dan.get(`${at}?${query}`)), query).toEqual(expected)
  })

  test('D3-ISSUES-LABELS-ALL: all of many labels and assignees match, also one that is named twice', async ({
    world,
  }) => {
    const { dan, at, project } = await three(world)
    const people = await Promise.all(Array.from({ length: 8 }, () => world.user()))
    const word = unique('many')
    const labels = people.map((_, index) => `Label ${index}`)
    const assignee_ids = people.map(({ id }) => id)
    for (const few of [0, 1])
      await openIssue(world, {
        project,
        title: word,
        labels: labels.slice(few).join(),
        assignee_ids: assignee_ids.slice(few),
      })
    const all = [...labels, 'LABEL 7', 'label 7'].join()
    const usernames = (name: string, of = people) =>
      [...of, of[7]!].map(({ username }) => `${name}[]=${username.toUpperCase()}`).join('&')
    for (const [query, expected] of [
      [`labels=${all}`, [4]],
      [`labels=${labels.slice(1)}`, [5, 4]],
      [`labels=${all},missing`, []],
      [`not[labels]=${all}`, [5, 3, 2, 1]],
      [`not[labels]=${all},missing`, [5, 4, 3, 2, 1]],
      [usernames('assignee_username'), [4]],
      [`${usernames('assignee_username')}&assignee_username[]=no-user`, []],
      [usernames('not[assignee_username]'), [5, 3, 2, 1]],
    ] as const) {
      expect.soft(iids(await dan.get(`${at}?${query}`)), query).toEqual(expected)
      const { statistics } = (await dan.get(`/projects/${project.id}/issues_statistics?${query}`)).json
      expect.soft(statistics.counts.all, query).toBe(expected.length)
      const everywhere = iids(await dan.get(`/issues?scope=all&search=${word}&${query}`))
      expect.soft(everywhere, query).toEqual(expected.filter((iid) => iid > 3))
    }
  })

  test('D3-ISSUE-LABEL-DETAILS: with_labels_details lists labels as records', async ({ world }) => {
    const { dan, at } = await three(world)
    expect((await dan.get(`${at}?iids[]=1&with_labels_details=true`)).json[0].labels).toEqual([
      expect.objectContaining({ name: 'Fruit', color: expect.any(String), description_html: '' }),
      expect.objectContaining({ name: 'Red', text_color: expect.any(String) }),
    ])
  })

  test('D3-ISSUES-ASSIGNEE-SPECIAL, D3-ISSUES-IIDS, D3-ISSUES-SEARCH: filter by people, numbers and words', async ({
    world,
  }) => {
    const { dan, eve, at } = await three(world)
    for (const [query, expected] of [
      [`author_id=${dan.id}`, [1]],
      [`author_username=${eve.username.toUpperCase()}`, [2]],
      ['author_username=no-such-user', []],
      [`assignee_id=${eve.id}`, [1]],
      ['assignee_id=None', [3, 2]],
      ['assignee_id=0', [3, 2]],
      ['assignee_id=Any', [1]],
      [`assignee_username=${eve.username}`, [1]],
      ['iids[]=1&iids[]=3&iids[]=77', [3, 1]],
      ['scope=created_by_me', [1]],
      ['scope=created-by-me', [1]],
      ['scope=assigned-to-me', []],
      [`scope=created_by_me&author_id=${eve.id}`, []],
      ['search=apples', [2, 1]],
      // `in` exists on the list of all issues only.
      ['search=apples&in=title', [2, 1]],
      ['search=appl%25', []],
      ['not[search]=apples', [3]],
      ['not[search]=apples&not[in]=title', [3, 2]],
      ['not[assignee_id]=Any', [3, 2]],
      [`not[author_username]=${dan.username}`, [3, 2]],
      ['not[unknown]=x', [3, 2, 1]],
    ] as const)
      expect.soft(iids(await dan.get(`${at}?${query}`)), query).toEqual(expected)
  })

  test('D3-ISSUES-AUTHOR-EXCLUSIVE, D3-ISSUES-ASSIGNEE-EXCLUSIVE: 400 for two filters by the same user', async ({
    world,
  }) => {
    const { dan, at } = await three(world)
    for (const [query, error] of [
      ['author_id=1&author_username=x', 'author_id, author_username are mutually exclusive'],
      ['assignee_id=1&assignee_username=x', 'assignee_id, assignee_username are mutually exclusive'],
      ['not[author_id]=1&not[author_username]=x', 'not[author_id], not[author_username] are mutually exclusive'],
      ['assignee_id=me', "assignee_id should be an integer, 'None' or 'Any'"],
      ['order_by=name', 'order_by does not have a valid value'],
      ['due_date=soon', 'due_date does not have a valid value'],
      ['not=x', 'not is invalid'],
    ] as const)
      expect.soft(await dan.get(`${at}?${query}`), query).toMatchObject({ status: 400, json: { error } })
    expect(iids(await dan.get(`${at}?author_id=${dan.id}&not[author_username]=x`))).toEqual([1])
  })

  test('D3-ISSUES-PRIVATE-404: 404 for issues of a private project that the caller is no member of', async ({
    world,
  }) => {
    const ann = await world.user()
    const { project } = await openIssue(world, { visibility: 'private' })
    expect(await ann.get(`/projects/${project.id}/issues`)).toMatchObject({
      status: 404,
      json: { message: '404 Project Not Found' },
    })
  })

  test('D3-ISSUES-DATES: bounds of time include the given moment', async ({ world }) => {
    const { dan, at, second } = await three(world)
    const { created_at: made } = second.record
    expect(iids(await dan.get(`${at}?created_after=${made}&created_before=${made}`))).toEqual([2])
    expect(iids(await dan.get(`${at}?updated_after=${made}`))).toEqual([3, 2])
    expect(iids(await dan.get(`${at}?created_before=${made}`))).toEqual([2, 1])
  })
})

describe('GET /issues', () => {
  test('D3-ISSUES-SCOPE: the issues of the caller unless scope is given', async ({ world }) => {
    const { dan, eve, first, second, third } = await three(world)
    expect(ids(await dan.get('/issues'))).toEqual([first.id])
    expect(ids(await eve.get('/issues'))).toEqual([second.id])
    expect(ids(await eve.get('/issues?scope=assigned_to_me'))).toEqual([first.id])
    const all = await eve.get(`/issues?scope=all&created_before=${third.record.created_at}&per_page=3`)
    expect(ids(all)).toEqual([third.id, second.id, first.id])
  })

  test('D3-ISSUES-AUTH: 401 for issues without a token', async ({ world }) => {
    const { project } = await openIssue(world)
    for (const path of ['/issues', '/issues_statistics', `/projects/${project.id}/issues`])
      expect((await world.anonymous.get(path)).status, path).toBe(401)
  })

  test('D3-ISSUES-SEARCH: `in` narrows the search to title or description', async ({ world }) => {
    const word = unique('findable')
    const title = await openIssue(world, { title: `A ${word}` })
    const text = await openIssue(world, { project: title.project, description: `About ${word}` })
    const at = `/issues?scope=all&search=${word}`
    expect(ids(await world.root.get(at))).toEqual([text.id, title.id])
    expect(ids(await world.root.get(`${at}&in=title`))).toEqual([title.id])
    expect(ids(await world.root.get(`${at}&in=description,nonsense`))).toEqual([text.id])
  })

  test('D3-ISSUE-REFERENCES-RELATIVE: references are relative to where the issues are listed', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const project = await storedProject(world, { group, visibility: 'public' })
    await openIssue(world, { project })
    const referenceIn = async (path: string) => (await world.root.get(path)).json[0].references.relative
    expect(await referenceIn(`/projects/${project.id}/issues`)).toBe('#1')
    expect(await referenceIn(`/groups/${group.id}/issues`)).toBe(`${project.full_path.split('/')[1]}#1`)
    const { created_at: made } = (await world.root.get(`/projects/${project.id}/issues/1`)).json
    expect(await referenceIn(`/issues?scope=all&created_before=${made}&per_page=1`)).toBe(`${project.full_path}#1`)
  })

  test('D3-ISSUES-WEIGHT, D3-ISSUES-ASSIGNEE-SINGLE: on the free plan weight is ignored and there is one assignee', async () => {
    await using world = await World.start({ STITHY_PLAN: 'free' })
    const { project } = await openIssue(world)
    const at = `/projects/${project.id}/issues`
    expect(iids(await world.root.get(`${at}?weight=7`))).toEqual([1])
    expect(iids(await world.root.get(`${at}?not[weight]=None`))).toEqual([1])
    expect(await world.root.get(`${at}?assignee_username[]=a&assignee_username[]=b`)).toMatchObject({
      status: 400,
      json: { error: 'assignee_username allows one value, but found 2: a, b' },
    })
    expect((await world.root.get(`${at}?not[assignee_username][]=a&not[assignee_username][]=b`)).status).toBe(400)
  })

  test('D3-ISSUES-REACTION: reactions of others do not count', async ({ world }) => {
    const { dan, eve, at, second } = await three(world)
    await dan.post(`${second.at}/award_emoji`, { name: 'tada' })
    expect(iids(await dan.get(`${at}?my_reaction_emoji=tada`))).toEqual([2])
    expect(iids(await eve.get(`${at}?my_reaction_emoji=Any`))).toEqual([])
    expect(iids(await dan.get(`${at}?not[my_reaction_emoji]=Any`))).toEqual([3, 1])
  })

  test('both names of a thumb filter by it', async ({ world }) => {
    const { dan, at, second } = await three(world)
    await dan.post(`${second.at}/award_emoji`, { name: '+1' })
    expect(iids(await dan.get(`${at}?my_reaction_emoji=%2B1`))).toEqual([2])
    expect(iids(await dan.get(`${at}?my_reaction_emoji=thumbsup`))).toEqual([2])
    expect(iids(await dan.get(`${at}?not[my_reaction_emoji]=%2B1`))).toEqual([3, 1])
  })
})

describe('GET /groups/:id/issues', () => {
  test('D3-ISSUES-NON-ARCHIVED: includes subgroups, and archived projects on request', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const below = await world.group({ visibility: 'public', parent: group })
    const inside = await openIssue(world, { project: await storedProject(world, { group: below }) })
    const old = await storedProject(world, { group, visibility: 'public' })
    const archived = await openIssue(world, { project: old })
    await changeProject(world, old.id, { archived: true })
    const at = `/groups/${group.id}/issues`
    expect(ids(await world.root.get(at))).toEqual([inside.id])
    expect(ids(await world.root.get(`${at}?non_archived=false`))).toEqual([archived.id, inside.id])
    expect((await world.root.get(`/groups/${group.id}/issues_statistics`)).json.statistics.counts.all).toBe(1)
    expect(
      (await world.root.get(`/groups/${group.id}/issues_statistics?non_archived=no`)).json.statistics.counts.all,
    ).toBe(2)
  })
})

test('D3-ISSUES-CONFIDENTIAL: nothing lists, counts or finds a confidential issue once the caller may not read it', async ({
  world,
}) => {
  const [rae, ann] = [await world.user(), await world.user()]
  const word = unique('secret')
  const group = await world.group({ visibility: 'public' })
  await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 10 })
  const project = await storedProject(world, { group, visibility: 'public', members: [[rae, 'reporter']] })
  await world.root.post(`/projects/${project.id}/labels`, { name: 'hidden', color: 'red' })
  const milestone = (await world.root.post(`/projects/${project.id}/milestones`, { title: 'One' })).json
  const { id, at } = await openIssue(world, {
    project,
    title: `The ${word}`,
    confidential: true,
    labels: 'hidden',
    milestone_id: milestone.id,
    assignee_ids: [ann.id],
    weight: 1,
    due_date: '2030-01-01',
  })
  await world.root.post(`${at}/notes`, { body: `More of the ${word}` })
  const counts = async (who: Client) => {
    const count = async (path: string) => (await who.get(path)).json
    const of = async (path: string) => (await count(path)).statistics.counts.all
    const listed = async (path: string) => ids(await who.get(path)).filter((one: number) => one === id).length
    const [label] = await count(`/projects/${project.id}/labels?with_counts=true`)
    return {
      listed: [
        await listed('/issues?scope=all'),
        await listed('/issues?scope=all&confidential=true'),
        await listed(`/issues?scope=all&search=${word}`),
        await listed(`/issues?scope=all&order_by=due_date&labels=hidden`),
        await listed(`/projects/${project.id}/issues`),
        await listed(`/groups/${group.id}/issues`),
        await listed('/issues?scope=all&order_by=updated_at'),
        await listed('/issues?scope=all&updated_after=2020-01-01'),
        await listed(`/projects/${project.id}/issues?order_by=updated_at`),
        await listed(`/groups/${group.id}/issues?order_by=updated_at&state=opened`),
        await listed(`/projects/${project.id}/milestones/${milestone.id}/issues`),
        await listed(`/search?scope=issues&search=${word}`),
        await listed(`/projects/${project.id}/search?scope=issues&search=${word}`),
        await listed(`/groups/${group.id}/search?scope=issues&search=${word}`),
      ],
      notes: (await count(`/search?scope=notes&search=${word}`)).length,
      notesInProject: (await count(`/projects/${project.id}/search?scope=notes&search=${word}`)).length,
      all: await of(`/issues_statistics?scope=all&search=${word}`),
      hidden: await of('/issues_statistics?scope=all&labels=hidden&confidential=true'),
      project: await of(`/projects/${project.id}/issues_statistics`),
      group: await of(`/groups/${group.id}/issues_statistics`),
      label: label.open_issues_count,
      assigned: (await count('/user_counts')).assigned_issues,
    }
  }
  const shown = (times: number) => ({
    ...{ listed: Array(14).fill(times), notes: times, notesInProject: times, all: times, hidden: times },
    ...{ project: times, group: times, label: times },
  })
  const openIssues = async (who: Client) => (await who.get(`/projects/${project.id}`)).json.open_issues_count
  expect(await counts(rae)).toEqual({ ...shown(1), assigned: 0 })
  expect(await counts(ann)).toEqual({ ...shown(1), assigned: 1 })
  expect(await counts(await world.user())).toEqual({ ...shown(0), assigned: 0 })
  // The count of the project has all confidential issues or none.
  expect([await openIssues(rae), await openIssues(ann)]).toEqual([1, 0])
  await world.root.delete(`/projects/${project.id}/members/${rae.id}`)
  await unassignIssue(world, id)
  expect(await counts(rae)).toEqual({ ...shown(0), assigned: 0 })
  expect(await counts(ann)).toEqual({ ...shown(0), assigned: 0 })
  expect([await openIssues(rae), await openIssues(world.root)]).toEqual([0, 1])
})

test('issues of a milestone are listed in its project or group, newest first', async ({ world }) => {
  const group = await world.group({ visibility: 'public' })
  const project = await storedProject(world, { group, visibility: 'public' })
  const own = (await world.root.post(`/projects/${project.id}/milestones`, { title: 'Own' })).json
  const shared = (await world.root.post(`/groups/${group.id}/milestones`, { title: 'Shared' })).json
  const one = await openIssue(world, { project, milestone_id: own.id })
  const [two, three] = [
    await openIssue(world, { project, milestone_id: shared.id }),
    await openIssue(world, { project, milestone_id: shared.id }),
  ]
  const at = `/projects/${project.id}/milestones`
  expect(ids(await world.root.get(`${at}/${own.id}/issues`))).toEqual([one.id])
  expect(ids(await world.root.get(`/groups/${group.id}/milestones/${shared.id}/issues`))).toEqual([three.id, two.id])
  expect((await world.root.get(`${at}/${shared.id}/issues`)).status).toBe(404)
  expect((await world.anonymous.get(`${at}/${own.id}/issues`)).status).toBe(401)
})

test.for([
  ['issues', openIssue],
  ['merge_requests', openMergeRequest],
] as const)('%s: a comment changes the place in lists by time of update', async ([kind, open], { world }) => {
  const group = await world.group({ visibility: 'public' })
  const project = await storedProject(world, { group, visibility: 'public' })
  const first = await open(world, { project })
  const second = await open(world, { project, branch: 'other' })
  const { updated_at } = (await world.root.get(second.at)).json
  const listed = async () => {
    const found: number[][] = []
    for (const path of [`/projects/${project.id}/${kind}?`, `/groups/${group.id}/${kind}?`, `/${kind}?scope=all&`])
      for (const filter of ['', '&state=opened', `&author_id=${world.root.id}`])
        found.push(
          ids(await world.root.get(`${path}order_by=updated_at&created_after=${first.record.created_at}${filter}`)),
        )
    return found
  }
  const since = async (more: string) =>
    ids(await world.root.get(`/projects/${project.id}/${kind}?updated_after=${updated_at}${more}`))
  expect(await listed()).toEqual(Array(9).fill([second.id, first.id]))
  expect(await since('')).toEqual([second.id])
  await world.root.post(`${first.at}/notes`, { body: 'Still there' })
  expect(await listed()).toEqual(Array(9).fill([first.id, second.id]))
  expect(await since('')).toEqual([second.id, first.id])
  expect(await since('&order_by=updated_at')).toEqual([first.id, second.id])
  expect(await since(`&order_by=updated_at&iids[]=${first.iid}`)).toEqual([first.id])
  expect(await since('&state=closed')).toEqual([])
})
