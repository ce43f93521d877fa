import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'

/** Fields of the record that lists omit. */
const ofOneAlone = ['merge_error', 'user', 'head_pipeline']

const withoutThose = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !ofOneAlone.includes(name)))

const report = async (world: World, projectId: number, sha: string, ref: string) => {
  const { status } = await world.root.post(`/projects/${projectId}/statuses/${sha}`, { state: 'success', ref })
  expect(status).toBe(201)
}

describe('merge requests in lists', () => {
  test('D3-MR-LIST-FIELDS D1-COMMIT-MRS: a list shows the fields of the record, in every list', async ({ world }) => {
    const dan = await world.user()
    const { at, project, iid, head, branch } = await openMergeRequest(world, {
      members: [[dan, 'developer']],
      author: dan,
    })
    await report(world, project.id, head, branch)
    project.repository.commit({ c: 'c\n' })
    const { json: alone } = await dan.get(`${at}?include_diverged_commits_count=true`)
    expect(alone).toMatchObject({
      subscribed: true,
      changes_count: '1',
      diverged_commits_count: 1,
      pipeline: { sha: head, ref: branch, status: 'success', project_id: project.id },
      latest_build_finished_at: expect.any(String),
      diff_refs: { head_sha: head },
    })
    const { diverged_commits_count: _, ...uncounted } = withoutThose(alone)
    const listed = async (path: string, name = 'iid') =>
      (await dan.get(path)).json.find((each: any) => each[name] === iid || each.target?.[name] === iid)
    const counted = `/projects/${project.id}/merge_requests?include_diverged_commits_count=true`
    expect(await listed(counted)).toEqual(withoutThose(alone))
    expect(await listed(`/projects/${project.id}/merge_requests`)).toEqual(uncounted)
    expect(await listed(`/projects/${project.id}/repository/commits/${head}/merge_requests`)).toEqual(uncounted)
    const fromAfar = { ...uncounted, references: { ...alone.references, relative: alone.references.full } }
    expect(await listed('/merge_requests')).toEqual(fromAfar)
    await dan.post(`${at}/todo`)
    expect((await listed('/todos')).target).toEqual(fromAfar)
  })

  test('a merge request shows no pipeline that the caller cannot read', async ({ world }) => {
    const [dan, rob, owner] = [await world.user(), await world.user(), await world.user()]
    const members: [Client, Level][] = [
      [dan, 'developer'],
      [rob, 'reporter'],
    ]
    const { project } = await openMergeRequest(world, { members: [...members, [owner, 'developer']] })
    const fork = await forkOf(world, project, owner)
    const { head, branch, iid } = await openMergeRequest(world, { project, source: fork, author: owner, branch: 'far' })
    await report(world, fork.id, head, branch)
    const pipelineFor = async (who: Client) =>
      (await who.get(`/projects/${project.id}/merge_requests?iids[]=${iid}`)).json[0].pipeline
    expect(await pipelineFor(rob)).toMatchObject({ sha: head, project_id: fork.id })
    await owner.put(`/projects/${fork.id}`, { visibility: 'private' })
    expect(await pipelineFor(rob)).toBeNull()
    expect(await pipelineFor(owner)).toMatchObject({ sha: head })
  })

  test('subscribed is true for participants unless they chose otherwise', async ({ world }) => {
    const [dan, eve] = [await world.user(), await world.user()]
    const { at, project } = await openMergeRequest(world, {
      members: [
        [dan, 'developer'],
        [eve, 'developer'],
      ],
      author: dan,
    })
    const subscribed = async (who: Client) =>
      (await who.get(`/projects/${project.id}/merge_requests`)).json[0].subscribed
    expect([await subscribed(dan), await subscribed(eve)]).toEqual([true, false])
    await dan.post(`${at}/unsubscribe`)
    await eve.post(`${at}/subscribe`)
    expect([await subscribed(dan), await subscribed(eve)]).toEqual([false, true])
  })
})
