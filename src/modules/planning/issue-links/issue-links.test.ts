import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest'
import { addBlockingIssues, deleteIssue, unassignIssue } from '../../../../test/tables/issue-links.ts'
import { type Client, test, World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { type OpenedIssue, openIssue } from '../issues/testing.ts'

const link = (who: Client, from: OpenedIssue, to: OpenedIssue, link_type?: string) =>
  who.post(`${from.at}/links`, {
    target_project_id: to.project.id,
    target_issue_iid: to.iid,
    ...(link_type && { link_type }),
  })

const notesOf = async (who: Client, { at }: OpenedIssue): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json.map(({ body }: { body: string }) => body)

describe('links between issues', () => {
  test('the other links of an issue stay when one is removed', async ({ world }) => {
    const [a, b, c] = [await openIssue(world), await openIssue(world), await openIssue(world)]
    const [first] = [await link(world.root, a, b), await link(world.root, a, c)]
    await link(world.root, b, c)
    const linked = async ({ at }: OpenedIssue) =>
      (await world.root.get(`${at}/links`)).json.map(({ id }: { id: number }) => id)
    const [one] = (await world.root.get(`${a.at}/links`)).json
    expect(first.status).toBe(201)
    expect((await world.root.delete(`${a.at}/links/${one.issue_link_id}`)).status).toBe(200)
    expect([await linked(a), await linked(b), await linked(c)]).toEqual([[c.id], [c.id], [a.id, b.id]])
  })

  test('a link without a project is to an issue of the same project', async ({ world }) => {
    const a = await openIssue(world)
    const b = await openIssue(world, { project: a.project })
    const sent = { target_project_id: null, target_issue_iid: `${b.iid}`, link_type: 'relates_to' }
    expect(await world.root.post(`${a.at}/links`, sent)).toMatchObject({
      status: 201,
      json: { target_issue: { id: b.id } },
    })
    expect((await world.root.post(`${b.at}/links`, { target_issue_iid: a.iid })).status).toBe(409)
  })

  test('both issues show a link from their point of view', async ({ world }) => {
    const a = await openIssue(world)
    const [b, c] = [await openIssue(world, { project: a.project }), await openIssue(world)]
    expect(await link(world.root, a, b)).toMatchObject({
      status: 201,
      json: { source_issue: { id: a.id }, target_issue: { id: b.id }, link_type: 'relates_to' },
    })
    const blocking = await link(world.root, a, c, 'blocks')
    expect(blocking).toMatchObject({ status: 201, json: { target_issue: { id: c.id }, link_type: 'blocks' } })

    expect((await world.root.get(`${a.at}/links`)).json).toMatchObject([
      { id: b.id, link_type: 'relates_to', references: { relative: `#${b.iid}` } },
      { id: c.id, link_type: 'blocks', references: { relative: `${c.project.full_path}#${c.iid}` } },
    ])
    expect((await world.root.get(`${b.at}/links`)).json).toMatchObject([{ id: a.id, link_type: 'relates_to' }])
    const [seen] = (await world.root.get(`${c.at}/links`)).json
    expect(seen).toMatchObject({
      id: a.id,
      link_type: 'is_blocked_by',
      issue_link_id: blocking.json.id,
      link_created_at: expect.any(String),
      link_updated_at: expect.any(String),
    })
    expect((await world.root.get(`${c.at}/links/${seen.issue_link_id}`)).json).toMatchObject({
      id: seen.issue_link_id,
      source_issue: { id: c.id },
      target_issue: { id: a.id },
      link_type: 'is_blocked_by',
    })
    expect((await world.root.get(`${b.at}/links/${seen.issue_link_id}`)).status).toBe(404)
  })

  test('an issue that is blocked by another one shows the same link as the other way round', async ({ world }) => {
    const a = await openIssue(world)
    const b = await openIssue(world, { project: a.project })
    expect((await link(world.root, a, b, 'is_blocked_by')).json).toMatchObject({ link_type: 'is_blocked_by' })
    expect((await world.root.get(`${a.at}/links`)).json).toMatchObject([{ link_type: 'is_blocked_by' }])
    expect((await world.root.get(`${b.at}/links`)).json).toMatchObject([{ link_type: 'blocks' }])
  })

  test('409 if the issues are linked in either direction, 400 for the issue itself', async ({ world }) => {
    const a = await openIssue(world)
    const b = await openIssue(world, { project: a.project })
    await link(world.root, a, b)
    expect(await link(world.root, a, b)).toMatchObject({ status: 409 })
    expect(await link(world.root, b, a, 'blocks')).toMatchObject({ status: 409 })
    expect(await link(world.root, a, a)).toMatchObject({ status: 400 })
    expect(await link(world.root, a, { ...b, iid: 999_999 })).toMatchObject({ status: 404 })
    expect(await link(world.root, a, b, 'likes')).toMatchObject({ status: 400 })
    expect((await notesOf(world.root, b)).filter((body) => body.startsWith('marked'))).toHaveLength(1)
  })

  test('notes on both sides name links and their removal, each time', async ({ world }) => {
    const a = await openIssue(world)
    const b = await openIssue(world, { project: a.project })
    for (let round = 0; round < 2; round++) {
      const { id } = (await link(world.root, a, b, 'blocks')).json
      expect(await world.root.delete(`${b.at}/links/${id}`)).toMatchObject({
        status: 200,
        json: { source_issue: { id: b.id }, target_issue: { id: a.id }, link_type: 'is_blocked_by' },
      })
      expect((await world.root.delete(`${b.at}/links/${id}`)).status).toBe(404)
    }
    expect((await world.root.get(`${a.at}/links`)).json).toEqual([])
    const [blocking, removed] = [`marked this issue as blocking #${b.iid}`, `removed the relation with #${b.iid}`]
    expect(await notesOf(world.root, a)).toEqual([blocking, removed, blocking, removed])
    expect((await notesOf(world.root, b))[0]).toBe(`marked this issue as blocked by #${a.iid}`)
  })

  test('linking and unlinking require permission to administer both issues', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const here = await openIssue(world, {
      members: [
        [ann, 'reporter'],
        [bob, 'guest'],
      ],
    })
    const there = await openIssue(world)
    expect((await link(ann, here, there)).status).toBe(403)
    expect((await link(ann, there, here)).status).toBe(403)
    await world.root.post(`/projects/${there.project.id}/members`, { user_id: ann.id, access_level: 20 })
    expect((await link(bob, here, there)).status).toBe(403)
    const made = await link(ann, here, there)
    expect(made.status).toBe(201)
    await world.root.delete(`/projects/${there.project.id}/members/${ann.id}`)
    expect((await ann.delete(`${here.at}/links/${made.json.id}`)).status).toBe(403)
    expect((await ann.get(`${here.at}/links/${made.json.id}`)).status).toBe(200)
  })

  test('an issue that the caller cannot read is in no list of links and no note', async ({ world }) => {
    const ann = await world.user()
    const here = await openIssue(world, { members: [[ann, 'reporter']] })
    const closed = await openIssue(world, { visibility: 'private', members: [[ann, 'guest']] })
    const secret = await openIssue(world, { project: closed.project, confidential: true, assignee_ids: [ann.id] })
    const ids = [(await link(world.root, here, closed)).json.id, (await link(world.root, here, secret)).json.id]
    const seen = async () => ({
      links: (await ann.get(`${here.at}/links`)).json.map(({ id }: { id: number }) => id),
      single: (await Promise.all(ids.map((id) => ann.get(`${here.at}/links/${id}`)))).map(({ status }) => status),
      notes: (await notesOf(ann, here)).length,
    })
    // An assignee reads a confidential issue, a guest who is none does not.
    expect(await seen()).toEqual({ links: [closed.id, secret.id], single: [200, 200], notes: 2 })
    await unassignIssue(world, secret.id, ann.id)
    expect(await seen()).toEqual({ links: [closed.id], single: [200, 404], notes: 1 })
    await world.root.delete(`/projects/${closed.project.id}/members/${ann.id}`)
    expect(await seen()).toEqual({ links: [], single: [404, 404], notes: 0 })
    for (const other of [closed, secret]) {
      const missing = await link(ann, here, { ...other, iid: 999_999 })
      expect(await link(ann, here, other)).toMatchObject({ status: 404, json: missing.json })
    }
    expect((await ann.delete(`${here.at}/links/${ids[1]}`)).status).toBe(404)
  })

  test('a deleted issue takes its links and the notes about it with it', async ({ world }) => {
    const a = await openIssue(world)
    const b = await openIssue(world, { project: a.project })
    await link(world.root, a, b)
    await deleteIssue(world, b.id)
    expect((await world.root.get(`${a.at}/links`)).json).toEqual([])
    expect(await notesOf(world.root, a)).toEqual([])
  })

  test('two issues that are linked by 16 writers at the same time have one link', async ({ world }) => {
    const a = await openIssue(world)
    const b = await openIssue(world, { project: a.project })
    const made = await Promise.all(
      Array.from({ length: 16 }, (_, i) => (i % 2 ? link(world.root, a, b) : link(world.root, b, a))),
    )
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 15 }, () => 409)])
    expect((await world.root.get(`${a.at}/links`)).json).toHaveLength(1)
  })

  test('an issue has at most a hundred links', async ({ world }) => {
    const a = await openIssue(world)
    const [b, c] = [await openIssue(world, { project: a.project }), await openIssue(world, { project: a.project })]
    await addBlockingIssues(world, a.project.id, a.id, 99)
    expect((await link(world.root, b, a)).status).toBe(201)
    expect(await link(world.root, c, a)).toMatchObject({
      status: 400,
      json: { message: 'An issue has too many links (maximum is 100)' },
    })
    expect((await world.root.get(`${a.at}/links`)).json).toHaveLength(100)
    expect((await world.root.get(`${c.at}/links`)).json).toEqual([])
  })
})

describe('links on the plan free', () => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ STITHY_PLAN: 'free' })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  plain('blocking links are refused', async () => {
    const project = await storedProject(world)
    const [a, b] = [await openIssue(world, { project }), await openIssue(world, { project })]
    for (const type of ['blocks', 'is_blocked_by']) expect((await link(world.root, a, b, type)).status).toBe(403)
    expect((await link(world.root, a, b)).status).toBe(201)
  })
})
