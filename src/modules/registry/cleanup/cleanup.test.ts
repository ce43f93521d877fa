import { describe, expect } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { daysToCleanup, makeCleanupDue } from '../../../../test/tables/registry.ts'
import { test } from '../../../../test/world.ts'
import { imageAt, Registry, repositoryOf } from '../../../edges/registry/testing.ts'
import { lockRepository } from '../images/queries.ts'
import { cleanUpProject, startDueCleanups } from './jobs.ts'

const defaults = {
  enabled: true,
  cadence: '7d',
  keep_n: 10,
  older_than: '90d',
  name_regex: null,
  name_regex_delete: null,
  name_regex_keep: null,
}

describe('cleanup policies', () => {
  test('a project has a policy, which deletes nothing without a regular expression', async ({ world }) => {
    const project = await world.project()
    const policy = async () => (await world.root.get(`/projects/${project.id}`)).json.container_expiration_policy
    const change = (container_expiration_policy_attributes: unknown) =>
      world.root.put(`/projects/${project.id}`, { container_expiration_policy_attributes })
    expect(await policy()).toEqual(defaults)
    expect((await change({ cadence: '1d', name_regex: 'dev-.*' })).status).toBe(200)
    expect((await change({ keep_n: '5', enabled: 'true', name_regex_keep: 'dev-1' })).status).toBe(200)
    const deleting = (pattern: string) => ({ name_regex: pattern, name_regex_delete: pattern })
    const changed = { ...defaults, cadence: '1d', ...deleting('dev-.*'), keep_n: 5, name_regex_keep: 'dev-1' }
    expect(await policy()).toEqual(changed)
    await change({ older_than: null, keep_n: '', name_regex_delete: 'all' })
    expect(await policy()).toEqual({ ...changed, older_than: null, keep_n: null, ...deleting('all') })
    expect((await change({ name_regex_delete: '', name_regex_keep: null })).status).toBe(200)
    expect(await policy()).toMatchObject({ cadence: '1d', name_regex: null, name_regex_keep: null })
  })

  test('a new project takes a policy', async ({ world }) => {
    const { json } = await world.root.post('/projects', {
      name: `policy-${Math.random().toString(36).slice(2)}`,
      container_expiration_policy_attributes: { cadence: '1month', enabled: false },
    })
    expect(json.container_expiration_policy).toEqual({ ...defaults, cadence: '1month', enabled: false })
  })

  test.for([
    [{ cadence: '2d' }, 'cadence is not included in the list'],
    [{ cadence: null }, 'cadence is not included in the list'],
    [{ keep_n: 3 }, 'keep_n is not included in the list'],
    [{ older_than: '1d' }, 'older_than is not included in the list'],
    [{ enabled: 'perhaps' }, 'enabled is not included in the list'],
    [{ cadence: {} }, 'cadence is not included in the list'],
    [{ cadence: ['1d'] }, 'cadence is not included in the list'],
    [{ keep_n: { a: 1 } }, 'keep_n is not included in the list'],
    [{ older_than: [{}] }, 'older_than is not included in the list'],
    [{ enabled: {} }, 'enabled is not included in the list'],
    [{ enabled: 'constructor' }, 'enabled is not included in the list'],
    [{ name_regex: '(' }, 'name_regex not valid RE2 syntax'],
    [{ name_regex_keep: 'x'.repeat(300) }, 'name_regex_keep not valid RE2 syntax'],
    [{ name_regex: '\0' }, 'container_expiration_policy_attributes is invalid'],
    [{ name_regex: ['x'] }, 'name_regex not valid RE2 syntax'],
  ] as const)('400 for the policy %j', async ([attributes, message], { world }) => {
    const project = await world.project()
    const answer = await world.root.put(`/projects/${project.id}`, {
      container_expiration_policy_attributes: attributes,
    })
    expect(answer.status, answer.text).toBe(400)
    expect(answer.text).toContain(message)
  })

  test('a policy runs a period after it appears, and again a period after that', async ({ world }) => {
    const ctx = await world.app.open(null)
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    const old = new Date(Date.now() - 100 * 86_400_000).toISOString()
    for (const tag of ['dev-1', 'dev-2', 'v1']) await registry.image(tag, { created: old, layer: tag })
    const change = (attributes: object) =>
      world.root.put(`/projects/${project.id}`, { container_expiration_policy_attributes: attributes })
    const start = async () => {
      await startDueCleanups(ctx)
      return world.jobs(`clean_up_container_images:${project.id}`)
    }
    expect(await start()).toEqual([])
    expect(await daysToCleanup(world, project.id)).toBeUndefined()
    await change({ name_regex: 'dev-.*', keep_n: 1, cadence: '14d' })
    expect(await start()).toEqual([])
    expect(await daysToCleanup(world, project.id)).toBe(14)
    await change({ cadence: '1d' })
    expect(await start()).toEqual([])
    expect(await daysToCleanup(world, project.id)).toBe(1)
    await makeCleanupDue(world, project.id)
    await change({ enabled: false })
    expect(await start()).toEqual([])
    await change({ enabled: true })
    expect(await start()).toHaveLength(1)
    expect(await daysToCleanup(world, project.id)).toBe(1)
    await world.runJobs()
    await expect.poll(() => registry.tags()).toEqual(['dev-1', 'v1'])
  })

  test('a cleanup that waits obeys the policy that the project has when it runs, and deletes nothing once it is disabled', async ({
    world,
  }) => {
    const ctx = await world.app.open(null)
    const old = new Date(Date.now() - 100 * 86_400_000).toISOString()
    const prepare = async () => {
      const project = await world.project()
      const registry = await Registry.open(world.root, imageAt(project))
      for (const tag of ['dev-1', 'v1']) await registry.image(tag, { created: old, layer: tag })
      const change = (attributes: object) =>
        world.root.put(`/projects/${project.id}`, { container_expiration_policy_attributes: attributes })
      await change({ name_regex: '.*', keep_n: null })
      await startDueCleanups(ctx)
      await makeCleanupDue(world, project.id)
      return { project, registry, change }
    }
    const [disabled, changed, archived] = [await prepare(), await prepare(), await prepare()]
    await startDueCleanups(ctx)
    await disabled.change({ enabled: false })
    await changed.change({ name_regex: 'dev-.*' })
    await world.root.post(`/projects/${archived.project.id}/archive`)
    for (const { project } of [disabled, archived, changed]) {
      const waiting = await world.takeJobs(`clean_up_container_images:${project.id}`)
      expect(waiting).toHaveLength(1)
      for (const { payload } of waiting) await cleanUpProject.run(payload, ctx)
    }
    expect(await changed.registry.tags()).toEqual(['v1'])
    for (const { registry } of [disabled, archived]) expect(await registry.tags()).toEqual(['dev-1', 'v1'])
  })
  test('a cleanup deletes no more once the policy is disabled, or another one, while it waits for the repository', async ({
    world,
  }) => {
    const ctx = await world.app.open(null)
    const old = new Date(Date.now() - 100 * 86_400_000).toISOString()
    for (const attributes of [{ enabled: false }, { name_regex: 'dev-1' }]) {
      const project = await world.project()
      const registry = await Registry.open(world.root, imageAt(project))
      for (const tag of ['dev-1', 'dev-2']) await registry.image(tag, { created: old, layer: tag })
      const change = (container_expiration_policy_attributes: object) =>
        world.root.put(`/projects/${project.id}`, { container_expiration_policy_attributes })
      await change({ name_regex: 'dev-.*', keep_n: null })
      const { id } = await repositoryOf(world, project)
      const { run } = await world.db.transaction(async (tx) => {
        await lockRepository(tx, id)
        const run = cleanUpProject.run({ projectId: project.id }, ctx)
        await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
        expect((await change(attributes)).status).toBe(200)
        // In an object, because the transaction must end before the job can.
        return { run }
      })
      await run
      expect(await registry.tags()).toEqual(['dev-1', 'dev-2'])
    }
  })
})
