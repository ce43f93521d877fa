import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

/** A project whose merge requests are merged one after the other. */
async function merged(world: World, visibility: 'public' | 'private' = 'public') {
  const first = await openMergeRequest(world, { visibility, branch: 'b1', files: { b1: '' } })
  const { project } = first
  const merge = async (at: string, how: object = {}) =>
    expect((await world.root.put(`${at}/merge`, how)).json).toMatchObject({ state: 'merged' })
  const next = async (branch: string, how: object = {}) => {
    const made = await openMergeRequest(world, { project, branch, files: { [branch]: '' } })
    await merge(made.at, how)
    return made.iid
  }
  await merge(first.at)
  const deploy = async (how: object = {}) => {
    const sha = project.repository.git('rev-parse', 'main')
    const body = { environment: 'live', sha, ref: 'main', status: 'success', ...how }
    const made = await world.root.post(`/projects/${project.id}/deployments`, body)
    expect(made.status).toBe(201)
    return `/projects/${project.id}/deployments/${made.json.id}`
  }
  const iids = async (deployment: string, query = '') =>
    (await world.root.get(`${deployment}/merge_requests${query}`)).json.map(({ iid }: { iid: number }) => iid)
  return { project, first: first.iid, next, deploy, iids }
}

describe('merge requests of a deployment', () => {
  test('a deployment lists the merge requests merged since the previous one to its environment', async ({ world }) => {
    const { first, next, deploy, iids } = await merged(world)
    const one = await deploy()
    const second = await next('b2', { squash: true })
    const third = await next('b3')
    const [staging, two] = [await deploy({ environment: 'staging' }), await deploy()]
    expect(await iids(one)).toEqual([first])
    expect(await iids(two)).toEqual([third, second])
    expect(await iids(staging)).toEqual([third, second, first])
    expect(await iids(two, '?sort=asc&per_page=1')).toEqual([second])
    expect(await iids(two, '?state=opened')).toEqual([])
    expect(await iids(await deploy())).toEqual([])
  })

  test('merges by fast-forward are found by the head of the merge request', async ({ world }) => {
    const { project, first, deploy, iids } = await merged(world)
    await world.root.put(`/projects/${project.id}`, { merge_method: 'ff' })
    const one = await deploy()
    const head = project.repository.commit(
      { ff: '' },
      { branch: 'ff', parents: [project.repository.git('rev-parse', 'main') as Oid] },
    )
    const branches = { source_branch: 'ff', target_branch: 'main', title: 'ff' }
    const { iid } = (await world.root.post(`/projects/${project.id}/merge_requests`, branches)).json
    const merge = await world.root.put(`/projects/${project.id}/merge_requests/${iid}/merge`)
    expect(merge.json).toMatchObject({ state: 'merged', merge_commit_sha: null, sha: head })
    expect([await iids(one), await iids(await deploy())]).toEqual([[first], [iid]])
  })

  test('failed and running deployments list no merge requests, and none is previous', async ({ world }) => {
    const { first, deploy, iids } = await merged(world)
    const [failed, running] = [await deploy({ status: 'failed' }), await deploy({ status: 'running' })]
    expect([await iids(failed), await iids(running), await iids(await deploy())]).toEqual([[], [], [first]])
  })

  test('a deployment of an older commit than the previous one lists no merge requests', async ({ world }) => {
    const { project, next, deploy, iids } = await merged(world)
    await next('b2')
    await deploy()
    expect(await iids(await deploy({ sha: project.repository.git('rev-parse', 'main~') }))).toEqual([])
  })

  test('callers who cannot read merge requests get an empty list; a missing deployment is a 404', async ({ world }) => {
    const { project, deploy } = await merged(world)
    const deployment = await deploy()
    await world.root.put(`/projects/${project.id}`, { merge_requests_access_level: 'private' })
    const stranger = await world.user()
    expect(await stranger.get(`${deployment}/merge_requests`)).toMatchObject({ status: 200, json: [] })
    expect((await world.root.get(`/projects/${project.id}/deployments/999999999/merge_requests`)).status).toBe(404)
  })
})
