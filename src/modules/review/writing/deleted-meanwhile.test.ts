import { describe, expect } from 'vitest'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import type { Tx } from '../../../db/db.ts'
import { deleteAccount } from '../../accounts/users/removal-queries.ts'
import { deleteMilestone } from '../../planning/milestones/edit-queries.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

/** A merge request and an issue, with a milestone and a member who can be assigned. */
async function placed(world: World) {
  const request = await openMergeRequest(world)
  const { project } = request
  const at = `/projects/${project.id}`
  const { iid } = (await world.root.post(`${at}/issues`, { title: 'x' })).json
  const milestone = (await world.root.post(`${at}/milestones`, { title: unique('milestone') })).json
  const ann = await world.user()
  const branch = unique('branch')
  project.repository.commit({ c: 'c\n' }, { branch, parents: [request.base] })
  const requests = {
    'a new issue': (body: object) => world.root.post(`${at}/issues`, { title: 'y', ...body }),
    'a changed issue': (body: object) => world.root.put(`${at}/issues/${iid}`, { title: 'y', ...body }),
    'a new merge request': (body: object) =>
      world.root.post(`${at}/merge_requests`, { title: 'y', source_branch: branch, target_branch: 'main', ...body }),
    'a changed merge request': (body: object) => world.root.put(request.at, { title: 'y', ...body }),
  }
  return { requests, milestone, ann }
}
type Placed = Awaited<ReturnType<typeof placed>>

/** Sends the request while a transaction has deleted a row that it names, and commits when the request waits for it. */
const during = async (world: World, deletion: (tx: Tx) => Promise<unknown>, send: () => ReturnType<Client['post']>) => {
  const [answer] = await world.db.transaction(async (tx) => {
    await deletion(tx)
    const sent = send()
    await world.waitsForLock()
    return [sent]
  })
  return answer
}

const kinds = ['a new issue', 'a changed issue', 'a new merge request', 'a changed merge request'] as const

describe('what is deleted while it is assigned', () => {
  test.for(kinds)(
    '%s has no milestone that is deleted meanwhile, and the rest of the request has effect',
    async (kind, { world }) => {
      const { requests, milestone }: Placed = await placed(world)
      const answer = await during(
        world,
        (tx) => deleteMilestone(tx, milestone.id),
        () => requests[kind]({ milestone_id: milestone.id }),
      )
      expect(answer.status, answer.text).toBe(kind.startsWith('a new') ? 201 : 200)
      expect(answer.json).toMatchObject({ title: 'y', milestone: null })
    },
  )

  test.for(kinds)(
    '%s has no assignee who is deleted meanwhile, and the rest of the request has effect',
    async (kind, { world }) => {
      const { requests, ann }: Placed = await placed(world)
      const answer = await during(
        world,
        (tx) => deleteAccount(tx, ann.id),
        () => requests[kind]({ assignee_ids: [ann.id] }),
      )
      expect(answer.status, answer.text).toBe(kind.startsWith('a new') ? 201 : 200)
      expect(answer.json).toMatchObject({ title: 'y', assignees: [] })
    },
  )

  test('an approval rule and the requested approvers leave out who is deleted meanwhile', async ({ world }) => {
    const [{ at, project }, ann, dan] = [await openMergeRequest(world), await world.user(), await world.user()]
    const rules = `/projects/${project.id}/approval_rules`
    const group = await world.group()
    const whileDeleted = (who: Client, send: () => ReturnType<Client['post']>) =>
      during(world, (tx) => deleteAccount(tx, who.id), send)
    expect(
      await whileDeleted(ann, () =>
        world.root.post(rules, { name: 'R', approvals_required: 1, user_ids: [ann.id], group_ids: [group.id] }),
      ),
    ).toMatchObject({ status: 201, json: { users: [], groups: [{ id: group.id }] } })
    expect(
      await whileDeleted(dan, () =>
        world.root.put(`${at}/approvers`, { approver_ids: [dan.id, world.root.id], approver_group_ids: [] }),
      ),
    ).toMatchObject({ status: 200 })
  })
})
