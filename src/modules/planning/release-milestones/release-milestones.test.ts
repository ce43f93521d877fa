import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'

/** A project in a group, with a milestone of each, and who may release. */
async function placed(world: World, { visibility = 'public' as const } = {}) {
  const ann = await world.user()
  const group = await world.group({ visibility, members: [[ann, 'owner']] })
  const project = await storedProject(world, { group, visibility })
  project.repository.commit({ a: 'a\n' })
  const at = `/projects/${project.id}`
  const own = (await ann.post(`${at}/milestones`, { title: 'Own', due_date: '2031-02-03' })).json
  const shared = (await ann.post(`/groups/${group.id}/milestones`, { title: 'Shared' })).json
  const release = (milestones: unknown, tag_name = 'v1', who: Client = ann) =>
    who.post(`${at}/releases`, { tag_name, ref: 'main', description: 'x', milestones })
  return { ann, group, project, at, own, shared, release }
}

const titlesOf = async (who: Client, at: string, tag = 'v1'): Promise<string[]> =>
  (await who.get(`${at}/releases/${tag}`)).json.milestones.map(({ title }: { title: string }) => title)

describe('milestones of releases', () => {
  test('a release has milestones of the project and its groups, with the numbers of their issues', async ({
    world,
  }) => {
    const { ann, at, own, shared, release } = await placed(world)
    await ann.post(`${at}/issues`, { title: 'Open', milestone_id: own.id })
    const { iid } = (await ann.post(`${at}/issues`, { title: 'Closed', milestone_id: own.id })).json
    await ann.put(`${at}/issues/${iid}`, { state_event: 'close' })
    const made = await release(['Shared', 'Own', 'Own'])
    expect(made.status, made.text).toBe(201)
    const { expired: _, ...ofProject } = own
    const { expired: __, ...ofGroup } = shared
    const milestones = [
      { ...ofProject, issue_stats: { total: 2, closed: 1 } },
      { ...ofGroup, issue_stats: { total: 0, closed: 0 } },
    ]
    expect(made.json.milestones).toEqual(milestones)
    expect((await ann.get(`${at}/releases/v1`)).json.milestones).toEqual(milestones)
    expect((await ann.get(`${at}/releases`)).json[0].milestones).toEqual(milestones)
    expect((await ann.get(`${at}/releases/permalink/latest`)).json.milestones).toEqual(milestones)
  })

  test('an update replaces them, removes all with an empty list, and keeps them without a list', async ({ world }) => {
    const { ann, at, release } = await placed(world)
    await release(['Own'])
    const put = (body: object) => ann.put(`${at}/releases/v1`, body)
    expect((await put({ name: 'Named' })).json.milestones).toMatchObject([{ title: 'Own' }])
    expect((await put({ milestones: ['Shared'] })).json.milestones).toMatchObject([{ title: 'Shared' }])
    expect((await put({ milestones: ['Own', 'Shared'] })).json.milestones).toHaveLength(2)
    expect((await put({ milestones: [] })).json.milestones).toEqual([])
  })

  test('a title with a comma is one title', async ({ world }) => {
    const { ann, at, release } = await placed(world)
    await ann.post(`${at}/milestones`, { title: 'One, two' })
    expect((await release(['One, two'])).json.milestones).toMatchObject([{ title: 'One, two' }])
  })

  test('400 with unknown titles, and neither release, its tag nor change is stored', async ({ world }) => {
    const { ann, at, release } = await placed(world)
    const other = await placed(world)
    await other.ann.post(`${other.at}/milestones`, { title: 'Elsewhere' })
    const unknown = { status: 400, json: { message: 'Milestone(s) not found: Elsewhere, none' } }
    expect(await release(['Own', 'Elsewhere', 'none'])).toMatchObject(unknown)
    expect((await ann.get(`${at}/releases`)).json).toEqual([])
    expect((await ann.get(`${at}/repository/tags`)).json).toEqual([])
    await release(['Own'])
    expect(await ann.put(`${at}/releases/v1`, { name: 'x', milestones: ['Elsewhere', 'none'] })).toMatchObject(unknown)
    expect((await ann.get(`${at}/releases/v1`)).json).toMatchObject({ name: 'v1', milestones: [{ title: 'Own' }] })
  })

  test.for([
    ['numbers', [1, { title: 'Own' }]],
    ['too many titles', Array.from({ length: 101 }, (_, n) => `t${n}`)],
    ['a NUL', ['a\0b']],
    ['an object', { title: 'Own' }],
  ] as const)('400 with %s for titles', async ([, milestones], { world }) => {
    const { release } = await placed(world)
    expect((await release(milestones)).status).toBe(400)
  })

  test('a deleted milestone or release leaves the other', async ({ world }) => {
    const { ann, at, own, release } = await placed(world)
    await release(['Own', 'Shared'])
    await release(['Shared'], 'v2')
    expect((await ann.delete(`${at}/milestones/${own.id}`)).status).toBe(204)
    expect(await titlesOf(ann, at)).toEqual(['Shared'])
    expect((await ann.delete(`${at}/releases/v1`)).status).toBe(200)
    expect(await titlesOf(ann, at, 'v2')).toEqual(['Shared'])
  })

  test('a release has the milestone of the group to which its own was promoted', async ({ world }) => {
    const { ann, group, at, own, release } = await placed(world)
    await release(['Own'])
    expect((await ann.post(`${at}/milestones/${own.id}/promote`)).status).toBe(200)
    const { milestones } = (await ann.get(`${at}/releases/v1`)).json
    expect(milestones).toMatchObject([{ title: 'Own', group_id: group.id }])
  })

  test('a release of a project that leaves its group has a copy of the milestone of the group', async ({ world }) => {
    const { ann, project, at, shared, release } = await placed(world)
    await release(['Own', 'Shared'])
    const elsewhere = await world.group({ members: [[ann, 'owner']] })
    const moved = await world.root.put(`${at}/transfer`, { namespace: elsewhere.id })
    expect(moved.status, moved.text).toBe(200)
    const { milestones } = (await world.root.get(`${at}/releases/v1`)).json
    expect(milestones).toMatchObject([
      { title: 'Own', project_id: project.id },
      { title: 'Shared', project_id: project.id },
    ])
    expect(milestones[1].id).not.toBe(shared.id)
  })

  test('a reader sees no milestones if issues and merge requests are not for them', async ({ world }) => {
    const { ann, at, release } = await placed(world)
    await release(['Own'])
    const ben = await world.user()
    const set = (issues_access_level: string, merge_requests_access_level: string) =>
      ann.put(at, { issues_access_level, merge_requests_access_level })
    expect(await titlesOf(ben, at)).toEqual(['Own'])
    await set('private', 'enabled')
    expect(await titlesOf(ben, at)).toEqual(['Own'])
    await set('enabled', 'private')
    expect(await titlesOf(ben, at)).toEqual(['Own'])
    await set('private', 'private')
    expect(await titlesOf(ben, at)).toEqual([])
    expect(await titlesOf(world.anonymous, at)).toEqual([])
    expect(await titlesOf(ann, at)).toEqual(['Own'])
    await set('disabled', 'disabled')
    expect(await titlesOf(ann, at)).toEqual([])
    expect((await release(['Own'], 'v2')).status).toBe(400)
  })

  test('the numbers of issues count those that the reader may see', async ({ world }) => {
    const { ann, at, own, release } = await placed(world)
    await ann.post(`${at}/issues`, { title: 'Secret', confidential: true, milestone_id: own.id })
    await ann.post(`${at}/issues`, { title: 'Open', milestone_id: own.id })
    await release(['Own'])
    const statsFor = async (who: Client) => (await who.get(`${at}/releases/v1`)).json.milestones[0].issue_stats
    expect(await statsFor(ann)).toEqual({ total: 2, closed: 0 })
    expect(await statsFor(await world.user())).toEqual({ total: 1, closed: 0 })
    expect(await statsFor(world.anonymous)).toEqual({ total: 0, closed: 0 })
  })

  test('of a milestone that is deleted while it is assigned, the release has none', async ({ world }) => {
    const { ann, at, own, release } = await placed(world)
    const [made] = await Promise.all([release(['Own']), ann.delete(`${at}/milestones/${own.id}`)])
    expect([201, 400]).toContain(made.status)
    if (made.status === 201) expect(await titlesOf(ann, at)).toEqual([])
  })
})
