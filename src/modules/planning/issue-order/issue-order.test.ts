import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { addIssues, orderOfIssues, placedIssues, placeIssue, positionsOf } from '../../../../test/tables/issue-order.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { type OpenedIssue, openIssue } from '../issues/testing.ts'

/** Issues of one project, oldest first: in the order of issues without a position, the last one comes first. */
async function several(
  world: World,
  count: number,
  more: NonNullable<Parameters<typeof openIssue>[1]> = {},
): Promise<OpenedIssue[]> {
  const first = await openIssue(world, more)
  const issues = [first]
  while (issues.length < count) issues.push(await openIssue(world, { ...more, project: first.project }))
  return issues
}

type Next = { readonly move_before_id?: number; readonly move_after_id?: number }

const reorder = (who: Client, issue: OpenedIssue, next: Next) => who.put(`${issue.at}/reorder`, next)

describe('PUT /projects/:id/issues/:issue_iid/reorder', () => {
  test('an issue moves after one, before one, or between two', async ({ world }) => {
    const [a, b, c, d] = (await several(world, 4)) as [OpenedIssue, OpenedIssue, OpenedIssue, OpenedIssue]
    const order = () => orderOfIssues(world, [a.project.id])
    expect(await order()).toEqual([d.id, c.id, b.id, a.id])

    expect(await reorder(world.root, a, { move_before_id: d.id })).toMatchObject({ status: 200, json: { id: a.id } })
    expect(await order()).toEqual([d.id, a.id, c.id, b.id])
    await reorder(world.root, b, { move_after_id: d.id })
    expect(await order()).toEqual([b.id, d.id, a.id, c.id])
    await reorder(world.root, c, { move_before_id: d.id, move_after_id: a.id })
    expect(await order()).toEqual([b.id, d.id, c.id, a.id])
    // Clients that name the neighbours the other way round mean the same place.
    await reorder(world.root, b, { move_before_id: a.id, move_after_id: c.id })
    expect(await order()).toEqual([d.id, c.id, b.id, a.id])
  })

  test('new issues come after those with a position', async ({ world }) => {
    const [a, b] = (await several(world, 2)) as [OpenedIssue, OpenedIssue]
    await reorder(world.root, a, { move_after_id: b.id })
    const { id } = await openIssue(world, { project: a.project })
    expect(await orderOfIssues(world, [a.project.id])).toEqual([a.id, id, b.id])
  })

  test('issues without a position keep their places when one of them is named', async ({ world }) => {
    const issues = await several(world, 6)
    const ids = issues.map(({ id }) => id)
    const [a, , c, , e] = ids as [number, number, number, number, number]
    const others = ids.toReversed().filter((id) => id !== a)
    await reorder(world.root, issues[0]!, { move_after_id: c })
    const order = await orderOfIssues(world, [issues[0]!.project.id])
    expect(order.filter((id) => id !== a)).toEqual(others)
    expect(order.indexOf(a)).toBe(order.indexOf(c) - 1)
    await reorder(world.root, issues[0]!, { move_before_id: e })
    expect((await orderOfIssues(world, [issues[0]!.project.id])).filter((id) => id !== a)).toEqual(others)
  })

  test('an issue moves next to one that comes after a thousand without a position', async ({ world }) => {
    const [a, b] = (await several(world, 2)) as [OpenedIssue, OpenedIssue]
    const later = await addIssues(world, a.project.id, 1100)
    await reorder(world.root, b, { move_before_id: a.id })
    expect(await placedIssues(world, [a.project.id])).toEqual([a.id, b.id])
    await reorder(world.root, b, { move_before_id: later[1050]! })
    const order = await orderOfIssues(world, [a.project.id])
    expect(order.slice(-1050)).toEqual(later.slice(0, 1050).toReversed())
    expect(order.slice(0, 52)).toEqual([a.id, ...later.slice(1050).toReversed(), b.id])
  })

  test('neighbours make room without changing their order', async ({ world }) => {
    const issues = await several(world, 9)
    const [moved, ...others] = issues as [OpenedIssue, ...OpenedIssue[]]
    // Two have the same position, as after a transfer; then the newer one comes first.
    for (const [index, { id }] of others.entries()) await placeIssue(world, id, Math.max(index, 1))
    const order = await orderOfIssues(world, [moved.project.id])
    for (const { id } of others) {
      expect((await reorder(world.root, moved, { move_before_id: id })).status).toBe(200)
      const now = await orderOfIssues(world, [moved.project.id])
      expect(now.indexOf(moved.id)).toBe(now.indexOf(id) + 1)
      expect(now.filter((each) => each !== moved.id)).toEqual(order.filter((each) => each !== moved.id))
    }
  })

  test('a place that is used again and again stays usable, and few neighbours move for it', async ({ world }) => {
    const [anchor, ...issues] = (await several(world, 46)) as [OpenedIssue, ...OpenedIssue[]]
    const project = anchor.project.id
    let [before, displaced] = [new Map<number, number | null>() as ReadonlyMap<number, number | null>, 0]
    for (const each of issues) {
      await reorder(world.root, each, { move_before_id: anchor.id })
      const now = await positionsOf(world, project)
      const isDisplaced = (id: number) => id !== each.id && before.get(id) != null && before.get(id) !== now.get(id)
      displaced += [...now.keys()].filter(isDisplaced).length
      before = now
    }
    expect(await orderOfIssues(world, [project])).toEqual([anchor.id, ...issues.map(({ id }) => id).toReversed()])
    // Twenty issues fit into a place before the first spread, which moves sixteen.
    expect(displaced).toBeGreaterThan(0)
    expect(displaced).toBeLessThan(issues.length * 2)
  })

  test('issues of projects below one top-level group have one order', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const inner = await world.group({ parent: group, visibility: 'public' })
    const [here, there] = [await storedProject(world, { group }), await storedProject(world, { group: inner })]
    const [a, b] = [await openIssue(world, { project: here }), await openIssue(world, { project: there })]
    const c = await openIssue(world, { project: here })
    await reorder(world.root, a, { move_before_id: c.id })
    await reorder(world.root, b, { move_before_id: c.id, move_after_id: a.id })
    expect(await orderOfIssues(world, [here.id, there.id])).toEqual([c.id, b.id, a.id])
    const elsewhere = await openIssue(world)
    expect(await reorder(world.root, a, { move_before_id: elsewhere.id })).toMatchObject({
      status: 404,
      json: { message: '404 Issue Not Found' },
    })
  })

  test('the caller must be allowed to update the issue and those next to it', async ({ world }) => {
    const [reporter, guest] = [await world.user(), await world.user()]
    const members: [Client, 'guest' | 'reporter'][] = [
      [reporter, 'reporter'],
      [guest, 'guest'],
    ]
    const [a, b] = (await several(world, 2, { members })) as [OpenedIssue, OpenedIssue]
    expect((await reorder(reporter, a, { move_before_id: b.id })).status).toBe(200)
    expect((await reorder(guest, a, { move_before_id: b.id })).status).toBe(403)
    const own = await openIssue(world, { project: a.project, author: guest })
    expect((await reorder(guest, own, { move_before_id: a.id })).status).toBe(404)
    expect((await reorder(world.root, a, {})).status).toBe(400)
    expect((await reorder(world.root, a, { move_before_id: a.id })).status).toBe(400)
    expect((await reorder(world.root, a, { move_before_id: 999_999_999 })).status).toBe(404)
  })

  test('a confidential issue that the caller cannot read is as one that does not exist', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public' })
    const secret = await openIssue(world, { project: await storedProject(world, { group }), confidential: true })
    const project = await storedProject(world, { group, visibility: 'public', members: [[ann, 'reporter']] })
    const own = await openIssue(world, { project })
    const missing = await reorder(ann, own, { move_before_id: 999_999_999 })
    expect(await reorder(ann, own, { move_before_id: secret.id })).toMatchObject({ status: 404, json: missing.json })
    const member = `/projects/${secret.project.id}/members`
    await world.root.post(member, { user_id: ann.id, access_level: 20 })
    expect((await reorder(ann, own, { move_before_id: secret.id })).status).toBe(200)
    await world.root.delete(`${member}/${ann.id}`)
    expect(await reorder(ann, own, { move_before_id: secret.id })).toMatchObject({ status: 404, json: missing.json })
    expect((await reorder(ann, secret, { move_before_id: own.id })).status).toBe(404)
  })

  test('32 concurrent writers lose no move, and the order is that of their moves one after the other', async ({
    world,
  }) => {
    const group = await world.group({ visibility: 'public' })
    const projects = [await storedProject(world, { group }), await storedProject(world, { group })]
    const ids = projects.map(({ id }) => id)
    const issues: OpenedIssue[] = []
    for (let i = 0; i < 32; i++) issues.push(await openIssue(world, { project: projects[i % 2]! }))
    const rounds = 3
    const start = await orderOfIssues(world, ids)
    // Each writer moves its own issue, next to those of others, which move at the same time.
    const wanted = new Map<string, Next>()
    const results = await Promise.all(
      issues.map(async (issue, writer) => {
        const statuses: number[] = []
        for (let round = 0; round < rounds; round++) {
          const other = issues[(writer * 7 + round * 11 + 1) % issues.length]!.id
          const next = other === issue.id ? undefined : round % 2 ? { move_after_id: other } : { move_before_id: other }
          if (!next) continue
          wanted.set(`${issue.id} ${statuses.length}`, next)
          statuses.push((await reorder(world.root, issue, next)).status)
        }
        return statuses
      }),
    )
    expect(new Set(results.flat())).toEqual(new Set([200]))
    // Moves hold a lock until they are committed, so their events have the order of the moves.
    const events = (await Promise.all(ids.map((project) => eventsOf(world, { project, kind: 'issue_updated' })))).flat()
    const moves = events.toSorted((one, two) => Number(one.id) - Number(two.id)).map(({ payload }) => payload.issue_id)
    expect(moves).toHaveLength(results.flat().length)
    const turns = new Map<number, number>()
    let model = start
    for (const id of moves) {
      const turn = turns.get(id) ?? 0
      turns.set(id, turn + 1)
      const { move_before_id, move_after_id } = wanted.get(`${id} ${turn}`)!
      const rest = model.filter((each) => each !== id)
      const place = move_before_id === undefined ? rest.indexOf(move_after_id!) : rest.indexOf(move_before_id) + 1
      model = rest.toSpliced(place, 0, id)
    }
    expect(await orderOfIssues(world, ids)).toEqual(model)
  })
})
