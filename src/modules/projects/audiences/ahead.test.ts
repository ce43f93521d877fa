import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { addIssues, audienceNumbers, lockIssue } from '../../../../test/tables/issues.ts'
import { test, type World } from '../../../../test/world.ts'
import { lowerAudiencesAhead } from './ahead.ts'
import { restoreAudiences } from './jobs.ts'

/** A public project in a public group, with enough issues that their audiences are lowered ahead. */
async function crowded(world: World) {
  const group = await world.group({ visibility: 'public' })
  const project = await world.project({ group, visibility: 'public' })
  const created_at = '2026-01-01T00:00:00Z'
  const issue = (iid: number) => ({
    iid,
    ...{
      project_id: project.id,
      title: `Issue ${iid}`,
      description: '',
      author_id: world.root.id,
      state: 'opened' as const,
    },
    ...{ confidential: iid === 1, milestone_id: null, due_date: null, weight: null, relative_position: null },
    ...{ created_at, updated_at: created_at },
  })
  await addIssues(
    world,
    Array.from({ length: 2002 }, (_, at) => issue(at + 1)),
  )
  return { group, project }
}

type Crowded = Awaited<ReturnType<typeof crowded>>

test.beforeEach(({ world }) => world.settings({ deletion_adjourned_period: 0 }))

test.for<[string, (world: World, place: Crowded) => Promise<{ status: number }>]>([
  ['a group is deleted', (world, { group }) => world.root.delete(`/groups/${group.id}`)],
  [
    'a group moves below a private one',
    async (world, { group }) =>
      world.root.post(`/groups/${group.id}/transfer`, { group_id: (await world.group({ visibility: 'private' })).id }),
  ],
  [
    'a project moves to a private group',
    async (world, { project }) =>
      world.root.put(`/projects/${project.id}/transfer`, {
        namespace: (await world.group({ visibility: 'private' })).id,
      }),
  ],
])('members are added elsewhere while the audiences of many issues are lowered: %s', async ([, change], { world }) => {
  const place = await crowded(world)
  const [ann, other] = [await world.user(), await world.group()]
  const { changed } = await world.db.transaction(async (tx) => {
    await lockIssue(tx, place.project.id, 2)
    const changed = change(world, place)
    await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
    const added = await world.root.post(`/groups/${other.id}/members`, { user_id: ann.id, access_level: 30 })
    expect(added.status).toBe(201)
    return { changed }
  })
  expect((await changed).status).toBeLessThan(300)
  const { counted, kept } = await audienceNumbers(world)
  expect(kept).toEqual(counted)
})

describe('a change that fails after audiences were lowered', () => {
  test('a job restores the audiences, other than those of confidential issues', async ({ world }) => {
    const { group, project } = await crowded(world)
    const before = await audienceNumbers(world)
    const issues = async () => (await audienceNumbers(world)).counted.filter(({ type }: any) => type === 'Issue')
    const all = before.counted.filter(({ type }: any) => type === 'Issue')
    expect(all).toEqual([{ type: 'Issue', audience: 20, state: 'opened', number: 2001 }])
    const ctx = await contextFor(world, null)
    await lowerAudiencesAhead(ctx, { namespaceId: group.id }, 0)
    expect(await issues()).toEqual([])
    const [job] = await world.takeJobs(`restore_audiences:namespace ${group.id}`)
    await restoreAudiences.run(job!.payload, ctx)
    expect(await audienceNumbers(world)).toEqual(before)
    await lowerAudiencesAhead(ctx, { projectId: project.id }, 0)
    await world.root.delete(`/projects/${project.id}`)
    await restoreAudiences.run({ place: { projectId: project.id } }, ctx)
    expect(await issues()).toEqual([])
  })
})
