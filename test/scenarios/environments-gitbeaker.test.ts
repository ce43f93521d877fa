import { Deployments, Environments, Lint } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { test } from '../world.ts'

test('@gitbeaker/rest reports deployments, stops environments and checks a pipeline', async ({ world }) => {
  const { id, repository } = await storedProject(world)
  const sha = repository.commit({ '.gitlab-ci.yml': 'test: {script: make}\n' })
  const options = { host: world.origin, token: world.root.token! }
  const [environments, deployments, lint] = [
    new Environments(options),
    new Deployments(options),
    new Lint(options),
  ] as const

  const live = await environments.create(id, 'live', { externalUrl: 'https://live.example' })
  expect(live).toMatchObject({ slug: 'live', state: 'available', external_url: 'https://live.example' })
  const made = await deployments.create(id, 'live', sha, 'main', false, { status: 'running' })
  expect(made).toMatchObject({ iid: 1, sha, environment: { id: live.id } })
  await deployments.edit(id, made.id, 'success')
  expect(await deployments.all(id, { environment: 'live', status: 'success' })).toMatchObject([{ id: made.id }])
  expect(await environments.show(id, live.id)).toMatchObject({ last_deployment: { id: made.id } })
  expect(await environments.edit(id, live.id, { tier: 'staging' })).toMatchObject({ tier: 'staging' })
  expect(await environments.stop(id, live.id)).toMatchObject({ state: 'stopped' })
  await environments.remove(id, live.id)
  expect(await environments.all(id)).toEqual([])

  expect(await lint.check(id, { includeJobs: true })).toMatchObject({ valid: true, jobs: [{ name: 'test' }] })
  expect(await lint.lint(id, 'test: {}')).toMatchObject({ valid: false })
})
