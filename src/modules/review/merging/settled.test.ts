import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { mergeAwaited, retryAwaited } from './awaited-job.ts'

/** A merge request with an automatic merge whose pipeline succeeded while something kept it from being merged. */
async function waiting(
  world: World,
  hold: (opened: OpenedMergeRequest) => Promise<unknown>,
  {
    late = false,
    by = world.root,
    ...more
  }: { readonly project?: StoredProject; readonly late?: boolean; readonly by?: Client } = {},
) {
  const opened = await openMergeRequest(world, more)
  const { project, head, branch, at } = opened
  const report = (state: string) => world.root.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })
  await report('running')
  expect((await by.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
  if (!late) await hold(opened)
  await report('success')
  // The job has yet to run.
  if (late) await hold(opened)
  /** Its state after the jobs queued for its head. */
  const stateAfterJobs = async () => {
    const key = `merge_when_pipeline_succeeds:${project.id}:${head}`
    const queued = await world.takeJobs(key)
    if (queued.length > 0) await mergeAwaited.run({ projectId: project.id, sha: head }, await contextFor(world, null))
    return (await world.root.get(at)).json.state
  }
  expect(await stateAfterJobs()).toBe('opened')
  return { ...opened, stateAfterJobs }
}

/** The same, held by an unresolved discussion. */
async function unsettled(world: World) {
  let begun: { id: string; notes: { id: number }[] } | undefined
  const { project, at, stateAfterJobs } = await waiting(world, async ({ project, at }) => {
    await world.root.put(`/projects/${project.id}`, { only_allow_merge_if_all_discussions_are_resolved: true })
    begun = (await world.root.post(`${at}/discussions`, { body: 'Wait' })).json
  })
  const [discussion, note] = [`${at}/discussions/${begun!.id}`, `${at}/notes/${begun!.notes[0]!.id}`]
  return { project, discussion, note, stateAfterJobs }
}

test('an automatic merge runs when the last discussion is resolved', async ({ world }) => {
  const { discussion, stateAfterJobs } = await unsettled(world)
  await world.root.post(`${discussion}/notes`, { body: 'Still' })
  expect(await stateAfterJobs()).toBe('opened')
  await world.root.put(discussion, { resolved: true })
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when the last unresolved note is deleted', async ({ world }) => {
  const { note, stateAfterJobs } = await unsettled(world)
  await world.root.delete(note)
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when the merge request is ready', async ({ world }) => {
  const { at, stateAfterJobs } = await waiting(world, ({ at }) => world.root.put(at, { draft: true }))
  await world.root.put(at, { draft: false })
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when it is approved, whatever is unresolved, unless the project requires that', async ({
  world,
}) => {
  const dan = await world.user()
  const { at, stateAfterJobs } = await waiting(world, async ({ project, at }) => {
    await world.root.post(`/projects/${project.id}/members`, { user_id: dan.id, access_level: 30 })
    await world.root.post(`${at}/approvals`, { approvals_required: 1 })
    await world.root.post(`${at}/discussions`, { body: 'By the way' })
  })
  expect((await dan.post(`${at}/approve`)).status).toBe(201)
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when it needs no more approvals', async ({ world }) => {
  const { at, stateAfterJobs } = await waiting(world, ({ at }) =>
    world.root.post(`${at}/approvals`, { approvals_required: 1 }),
  )
  await world.root.post(`${at}/approvals`, { approvals_required: 0 })
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when the settings of the project stop demanding that discussions are resolved', async ({
  world,
}) => {
  const { project, stateAfterJobs } = await unsettled(world)
  await world.root.put(`/projects/${project.id}`, { description: 'Of no concern to it' })
  expect(await stateAfterJobs()).toBe('opened')
  await world.root.put(`/projects/${project.id}`, { only_allow_merge_if_all_discussions_are_resolved: false })
  expect(await stateAfterJobs()).toBe('merged')
})

test.for(['the merge request', 'the project', 'a group above'] as const)(
  'an automatic merge runs when a rule of %s demands no more approvals, or is deleted',
  async (holder, { world }) => {
    const [ann, group] = [await world.user(), await world.group({ visibility: 'public' })]
    for (const release of ['change', 'deletion']) {
      const project = await storedProject(world, { visibility: 'public', group })
      // Rules of groups are for protected branches only.
      await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'main' })
      let rule = ''
      const hold = async ({ at }: OpenedMergeRequest) => {
        const held = {
          'the merge request': at,
          'the project': `/projects/${project.id}`,
          'a group above': `/groups/${group.id}`,
        }
        const rules = `${held[holder]}/approval_rules`
        const made = await world.root.post(rules, { name: release, approvals_required: 1, user_ids: [ann.id] })
        expect(made.status).toBe(201)
        rule = `${rules}/${made.json.id}`
      }
      const { stateAfterJobs } = await waiting(world, hold, { project })
      if (release === 'deletion') await world.root.delete(rule)
      else await world.root.put(rule, { approvals_required: 0 })
      expect(await stateAfterJobs(), release).toBe('merged')
    }
  },
)

test('an automatic merge runs when the project demands less approvals by its settings', async ({ world }) => {
  const { project, stateAfterJobs } = await waiting(world, ({ project }) =>
    world.root.post(`/projects/${project.id}/approvals`, { approvals_before_merge: 1 }),
  )
  await world.root.post(`/projects/${project.id}/approvals`, { approvals_before_merge: 0 })
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when the project is no longer archived', async ({ world }) => {
  const archive = ({ project }: OpenedMergeRequest) => world.root.post(`/projects/${project.id}/archive`)
  const { project, stateAfterJobs } = await waiting(world, archive, { late: true })
  await world.root.post(`/projects/${project.id}/unarchive`)
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when its target branch is unprotected, to which the rules that held it do not apply then', async ({
  world,
}) => {
  const project = await storedProject(world)
  const protection = `/projects/${project.id}/protected_branches`
  const hold = async () => {
    expect((await world.root.post(protection, { name: 'main' })).status).toBe(201)
    const rule = { name: 'Protected', approvals_required: 1, applies_to_all_protected_branches: true }
    expect((await world.root.post(`/projects/${project.id}/approval_rules`, rule)).status).toBe(201)
  }
  const { stateAfterJobs } = await waiting(world, hold, { project })
  expect((await world.root.delete(`${protection}/main`)).status).toBe(204)
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when the protection of its target branch lets the user merge again', async ({
  world,
}) => {
  for (const release of ['change', 'another protection']) {
    const dan = await world.user()
    const project = await storedProject(world, { members: [[dan, 'developer']] })
    const protections = `/projects/${project.id}/protected_branches`
    const hold = () => world.root.post(protections, { name: 'main' })
    const { stateAfterJobs } = await waiting(world, hold, { project, by: dan })
    const released =
      release === 'change'
        ? await world.root.put(`/projects/${project.id}/repository/branches/main/protect`, {
            developers_can_merge: true,
          })
        : await world.root.post(protections, { name: 'ma*', merge_access_level: 30 })
    expect(released.status, released.text).toBeLessThan(300)
    expect(await stateAfterJobs(), release).toBe('merged')
  }
})

test('an automatic merge runs when a rule of the merge request replaces the one whose approval is missing', async ({
  world,
}) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const project = await storedProject(world, {
    members: [
      [ann, 'developer'],
      [bob, 'developer'],
    ],
  })
  let ruleId = 0
  const { at, stateAfterJobs } = await waiting(
    world,
    async ({ at }) => {
      expect((await ann.post(`${at}/approve`)).status).toBe(201)
      const rule = { name: 'Reviewed', approvals_required: 1, user_ids: [bob.id] }
      ruleId = (await world.root.post(`/projects/${project.id}/approval_rules`, rule)).json.id
    },
    { project },
  )
  const replacing = { name: 'Reviewed', approvals_required: 1, user_ids: [ann.id], approval_project_rule_id: ruleId }
  expect((await world.root.post(`${at}/approval_rules`, replacing)).status).toBe(201)
  expect(await stateAfterJobs()).toBe('merged')
})

/** What keeps a merge request from being merged, and how that ends. */
type Hindrance = readonly [
  what: string,
  hold: (held: Held) => Promise<unknown>,
  release: (held: Held) => Promise<unknown>,
]
type Held = { readonly world: World; readonly project: StoredProject; readonly dan: Client }

const ofProject = ({ project }: Held) => `/projects/${project.id}`
const commit = (held: Held, action: 'create' | 'delete') =>
  held.world.root.post(`${ofProject(held)}/repository/commits`, {
    branch: 'main',
    commit_message: action,
    actions: [{ action, file_path: 'b', content: 'Not that of the topic\n' }],
  })
const memberAs = (access_level: number) => (held: Held) =>
  held.world.root.put(`${ofProject(held)}/members/${held.dan.id}`, { access_level })
const stateTo = (verb: 'block' | 'unblock') => (held: Held) => held.world.root.post(`/users/${held.dan.id}/${verb}`)

const hindrances: readonly Hindrance[] = [
  ['a conflict', (held) => commit(held, 'create'), (held) => commit(held, 'delete')],
  ['the role of the user', memberAs(20), memberAs(40)],
  ['that the user was blocked', stateTo('block'), stateTo('unblock')],
  [
    'a rule of the group that the project left',
    async (held) => {
      await held.world.root.post(`${ofProject(held)}/protected_branches`, { name: 'main' })
      const { namespace } = (await held.world.root.get(ofProject(held))).json
      const rule = { name: 'All', approvals_required: 1, user_ids: [held.world.root.id] }
      return held.world.root.post(`/groups/${namespace.id}/approval_rules`, rule)
    },
    async (held) => held.world.root.put(`${ofProject(held)}/transfer`, { namespace: (await held.world.group()).id }),
  ],
]

test.for(hindrances)(
  'an automatic merge runs within minutes once it is prevented no more by %s',
  async ([_what, hold, release], { world }) => {
    const dan = await world.user()
    const project = await storedProject(world, { members: [[dan, 'maintainer']] })
    const held = { world, project, dan }
    const done = async (change: Promise<any>) => expect((await change).status).toBeLessThan(300)
    const { stateAfterJobs } = await waiting(world, () => done(hold(held)), { project, by: dan, late: true })
    const retry = async () => {
      await retryAwaited.run({}, await contextFor(world, null))
      return stateAfterJobs()
    }
    expect(await retry()).toBe('opened')
    await done(release(held))
    expect(await retry()).toBe('merged')
  },
)

test('an automatic merge that push rules refused is not tried again by itself, nor one whose pipeline failed', async ({
  world,
}) => {
  const refused = await waiting(
    world,
    ({ project }) => world.root.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^no merge' }),
    { late: true },
  )
  expect((await world.root.get(refused.at)).json.merge_error).toContain('pre-receive hook')
  const failed = await waiting(world, ({ project, head, branch }) =>
    world.root.post(`/projects/${project.id}/statuses/${head}`, { state: 'failed', ref: branch, name: 'other' }),
  )
  await retryAwaited.run({}, await contextFor(world, null))
  for (const { project, head } of [refused, failed])
    expect(await world.jobs(`merge_when_pipeline_succeeds:${project.id}:${head}`)).toEqual([])
})
