import { chmod, readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobKeysLike } from '../../../../test/jobs.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { ageRepositoryCheck } from '../../../../test/tables/pushes.ts'
import { type TestProject, test, type World } from '../../../../test/world.ts'
import { projectRepositoryDir } from '../repositories/location.ts'
import { checkDueRepositories, checkRepository } from './jobs.ts'

async function projectWithCode(world: World): Promise<TestProject> {
  const project = await world.project()
  const made = await world.root.post(`/projects/${project.id}/repository/files/a`, {
    branch: 'main',
    content: 'a',
    commit_message: 'a',
  })
  expect(made.status).toBe(201)
  return project
}

const check = async (world: World, { id }: TestProject) =>
  checkRepository.run({ projectId: id }, await contextFor(world, null))

/** Whether lists of damaged repositories contain it. */
async function isDamaged(world: World, { id }: TestProject): Promise<boolean> {
  const { json } = await world.root.get('/projects?repository_checksum_failed=true&per_page=100')
  return json.some((each: { id: number }) => each.id === id)
}

/** Truncates one object. */
async function damage(world: World, { id }: TestProject): Promise<void> {
  const dir = projectRepositoryDir(await contextFor(world, null), { id, repository_storage: 'default' })
  const objects = join(dir, 'objects')
  const folder = (await readdir(objects)).find((name) => /^[0-9a-f]{2}$/.test(name))!
  const [name] = await readdir(join(objects, folder))
  await chmod(join(objects, folder, name!), 0o644)
  await truncate(join(objects, folder, name!), 3)
}

describe('repository checks', () => {
  test('a damaged repository is listed after a check until it is intact again', async ({ world }) => {
    const [whole, broken] = [await projectWithCode(world), await projectWithCode(world)]
    await damage(world, broken)
    await check(world, whole)
    await check(world, broken)
    expect([await isDamaged(world, whole), await isDamaged(world, broken)]).toEqual([false, true])
    await changeProject(world, whole.id, { repository_check_failed: true })
    await check(world, whole)
    expect(await isDamaged(world, whole)).toBe(false)
  })

  test('a check starts a month after the last one unless repository_checks_enabled is off', async ({ world }) => {
    const [due, recent, young] = [
      await projectWithCode(world),
      await projectWithCode(world),
      await projectWithCode(world),
    ]
    const ages: [TestProject, string | null][] = [
      [due, '31 days'],
      [recent, '29 days'],
      [young, null],
    ]
    for (const [{ id }, age] of ages) if (age !== null) await ageRepositoryCheck(world, id, age)
    const started = async () => {
      await checkDueRepositories.run({}, await contextFor(world, null))
      const rows = await jobKeysLike(world, 'check_repository:%')
      return [due, recent, young].map(({ id }) => rows.some(({ key }) => key === `check_repository:${id}`))
    }
    await world.settings({ repository_checks_enabled: false })
    expect(await started()).toEqual([false, false, false])
    await world.settings({ repository_checks_enabled: true })
    expect(await started()).toEqual([true, false, false])
  })
})
