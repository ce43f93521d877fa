import { describe, expect } from 'vitest'
import { ageDeployment } from '../../../../test/tables/ci.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'

async function deployed(world: World) {
  const [maintainer, developer] = await Promise.all([world.user(), world.user()])
  const project = await storedProject(world, {
    members: [
      [maintainer, 'maintainer'],
      [developer, 'developer'],
    ],
  })
  const sha = project.repository.commit({ a: 'a' })
  project.repository.git('tag', 'v1', sha)
  const at = `/projects/${project.id}/deployments`
  const deploy = (body: object = {}) => developer.post(at, { environment: 'live', sha, ref: 'main', ...body })
  return { project, sha, maintainer, developer, at, deploy, environments: `/projects/${project.id}/environments` }
}

describe('deployments', () => {
  test('a deployment creates its environment, and succeeds', async ({ world }) => {
    const { sha, developer, at, deploy, environments } = await deployed(world)
    const made = await deploy()
    expect(made).toMatchObject({
      status: 201,
      json: {
        iid: 1,
        sha,
        ref: 'main',
        tag: false,
        status: 'running',
        user: { username: developer.username },
        environment: { name: 'live', slug: 'live', tier: 'production', state: 'available' },
        deployable: null,
      },
    })
    const own = `${at}/${made.json.id}`
    expect((await developer.get(own)).json).toEqual(made.json)
    const environment = `${environments}/${made.json.environment.id}`
    expect((await developer.get(environment)).json.last_deployment).toBeNull()
    expect((await developer.put(own, { status: 'success' })).json.status).toBe('success')
    expect((await developer.get(environment)).json.last_deployment).toMatchObject({ iid: 1, status: 'success' })
    expect((await deploy({ sha: sha.slice(0, 8), ref: 'v1', tag: true })).json).toMatchObject({
      iid: 2,
      sha,
      tag: true,
    })
  })

  test('400 for a revision that is longer than any ref with its steps to an ancestor', async ({ world }) => {
    const { deploy } = await deployed(world)
    expect(await deploy({ ref: `main${'~0'.repeat(30_000)}` })).toMatchObject({
      status: 400,
      json: { message: { ref: ['The branch or tag does not exist'] } },
    })
    expect((await deploy({ ref: `main${'~0'.repeat(100)}` })).status).toBe(201)
  })

  test('other deployments stay as they are when one is changed or deleted', async ({ world }) => {
    const { maintainer, at, deploy } = await deployed(world)
    const [first, second] = [(await deploy()).json, (await deploy()).json]
    expect((await maintainer.put(`${at}/${first.id}`, { status: 'failed' })).status).toBe(200)
    expect((await maintainer.get(`${at}/${second.id}`)).json).toEqual(second)
    expect((await maintainer.delete(`${at}/${first.id}`)).status).toBe(204)
    expect((await maintainer.get(`${at}/${second.id}`)).json).toEqual(second)
  })

  test('a successful deployment makes a stopped environment available', async ({ world }) => {
    const { developer, at, deploy, environments } = await deployed(world)
    const { id, environment } = (await deploy()).json
    await developer.post(`${environments}/${environment.id}/stop`)
    expect((await deploy({ status: 'failed' })).json.environment.state).toBe('stopped')
    expect((await developer.put(`${at}/${id}`, { status: 'success' })).json.environment.state).toBe('available')
  })

  test('deployments are listed with filters and orders', async ({ world }) => {
    const { developer, at, deploy } = await deployed(world)
    const ids = [
      (await deploy({ status: 'success' })).json.id,
      (await deploy({ environment: 'qa', ref: 'v1' })).json.id,
      (await deploy({ status: 'failed' })).json.id,
    ]
    const found = async (query = '') => {
      const { status, json } = await developer.get(`${at}?${query}`)
      expect(status, query).toBe(200)
      return json.map(({ id }: { id: number }) => ids.indexOf(id))
    }
    expect(await found()).toEqual([0, 1, 2])
    expect(await found('sort=desc')).toEqual([2, 1, 0])
    expect(await found('environment=live')).toEqual([0, 2])
    expect(await found('environment=none')).toEqual([])
    expect(await found('status=failed')).toEqual([2])
    expect(await found('order_by=ref&sort=desc')).toEqual([1, 2, 0])
    for (const order of ['iid', 'created_at', 'updated_at']) expect(await found(`order_by=${order}`)).toEqual([0, 1, 2])
    await ageDeployment(world, ids[1])
    expect(await found('updated_before=2020-01-03T00:00:00Z')).toEqual([1])
    expect(await found('updated_after=2020-01-03T00:00:00Z')).toEqual([0, 2])
    expect(await found('per_page=1&page=2')).toEqual([1])
    expect((await developer.get(`${at}?status=odd`)).status).toBe(400)
  })

  test('400 without the commit or the ref', async ({ world }) => {
    const { deploy } = await deployed(world)
    expect(await deploy({ sha: 'f'.repeat(40), ref: 'none' })).toMatchObject({
      status: 400,
      json: { message: { sha: ['The commit does not exist'], ref: ['The branch or tag does not exist'] } },
    })
  })

  test('maintainers delete deployments that are neither running nor current', async ({ world }) => {
    const { project, maintainer, developer, at, deploy } = await deployed(world)
    const [first, second, running] = [
      (await deploy({ status: 'success' })).json.id,
      (await deploy({ status: 'success' })).json.id,
      (await deploy()).json.id,
    ]
    expect((await developer.delete(`${at}/${first}`)).status).toBe(403)
    expect((await maintainer.delete(`${at}/${first}`)).status).toBe(204)
    expect((await maintainer.get(`${at}/${first}`)).status).toBe(404)
    expect(await maintainer.delete(`${at}/${second}`)).toMatchObject({ status: 400 })
    expect(await maintainer.delete(`${at}/${running}`)).toMatchObject({ status: 400 })
    const kinds = await eventsOf(world, { project: project.id, kind: 'deployment%' }, 'kind')
    expect(kinds.map(({ kind }) => kind)).toEqual([...Array(3).fill('deployment_created'), 'deployment_deleted'])
  })

  test('deployments reported at once get numbers of their own, in one environment', async ({ world }) => {
    const { developer, deploy, environments } = await deployed(world)
    const made = await Promise.all([deploy(), deploy(), deploy()])
    expect(made.map(({ json }) => json.iid).sort()).toEqual([1, 2, 3])
    expect((await developer.get(environments)).json).toHaveLength(1)
  })

  test('the number of a deleted deployment is not given again', async ({ world }) => {
    const { maintainer, at, deploy } = await deployed(world)
    const failed = (await deploy({ status: 'failed' })).json
    expect(failed.iid).toBe(1)
    expect((await maintainer.delete(`${at}/${failed.id}`)).status).toBe(204)
    expect((await deploy()).json.iid).toBe(2)
  })

  test('deleting an environment deletes its deployments', async ({ world }) => {
    const { developer, at, deploy, environments } = await deployed(world)
    const { id, environment } = (await deploy({ status: 'success' })).json
    await developer.post(`${environments}/${environment.id}/stop`)
    expect((await developer.delete(`${environments}/${environment.id}`)).status).toBe(204)
    expect((await developer.get(`${at}/${id}`)).status).toBe(404)
  })
})
