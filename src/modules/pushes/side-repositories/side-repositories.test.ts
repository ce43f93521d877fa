import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobKeysLike } from '../../../../test/jobs.ts'
import { deleteProject } from '../../../../test/tables/projects.ts'
import { ageSideCheck, hasSideRepository } from '../../../../test/tables/side-repositories.ts'
import { test, World } from '../../../../test/world.ts'
import { removeRepositoryLeftovers } from '../../projects/repositories/jobs.ts'
import { checkSideRepositories } from './check.ts'
import { checkDueSideRepositories, checkSideRepository, removeSideRepositories } from './jobs.ts'
import { createSideRepository, saveSideSize } from './queries.ts'
import { written } from './testing.ts'

describe('side repositories', () => {
  test('concurrent creations for one holder give one repository', async ({ world }) => {
    const { id } = await world.project()
    const ctx = await contextFor(world, null)
    const rows = await Promise.all(
      Array.from({ length: 10 }, () => createSideRepository(ctx.db, { kind: 'project_wiki', id })),
    )
    expect(new Set(rows.map((row) => row.id)).size).toBe(1)
    expect(new Set(rows.map((row) => row.repository_key)).size).toBe(1)
  })

  test('a repository is deleted, files first, after its holder was deleted', async ({ world }) => {
    const project = await world.project()
    const group = await world.group()
    const [ofProject, ofGroup] = [
      await written(world, { kind: 'project_wiki', id: project.id }),
      await written(world, { kind: 'group_wiki', id: group.id }),
    ]
    await deleteProject(world, { id: project.id })
    expect(await hasSideRepository(world, ofProject.row.id)).toBe(true)
    // A pending push to it does not come back.
    await removeSideRepositories.run({}, ofProject.ctx)
    expect([existsSync(ofProject.dir), await hasSideRepository(world, ofProject.row.id)]).toEqual([false, false])
    expect([existsSync(ofGroup.dir), await hasSideRepository(world, ofGroup.row.id)]).toEqual([true, true])
  })

  test('a check reports missing, foreign and unowned repositories, and none that are in order', async () => {
    // A world of its own: a check reads every repository.
    await using world = await World.start({ STITHY_LOG_LEVEL: 'silent' })
    const [fine, foreign] = [await world.project(), await world.project()]
    const { ctx } = await written(world, { kind: 'project_wiki', id: fine.id })
    expect(await checkSideRepositories(ctx, ['default'], () => {})).toEqual([])
    const { dir, row } = await written(world, { kind: 'project_wiki', id: foreign.id })
    await ctx.git.removeRepository(dir)
    expect(await checkSideRepositories(ctx, ['default'], () => {})).toEqual([
      `wiki of project ${foreign.id}: its repository is missing`,
    ])
    await mkdir(join(dir, 'objects'), { recursive: true })
    const unowned = dir.replace(`${row.id}.git`, '4000000.git')
    await mkdir(unowned, { recursive: true })
    expect(await checkSideRepositories(ctx, ['default'], () => {})).toEqual([
      `wiki of project ${foreign.id}: the repository in its place does not carry its key, and goes to lost+found`,
      `${unowned} belongs to no wiki or snippet`,
    ])
  })

  test('a check lists a project whose wiki is damaged until it is intact again', async () => {
    await using world = await World.start({ STITHY_LOG_LEVEL: 'silent' })
    const { id } = await world.project()
    const { ctx, row, dir } = await written(world, { kind: 'project_wiki', id })
    const blob = join(dir, 'objects', '2e', '65efe2a145dda7ee51d1741299f848e5bf752e')
    const content = await readFile(blob)
    const listed = async () =>
      (await world.root.get('/projects?wiki_checksum_failed=true')).json.map((each: { id: number }) => each.id)
    const checks = {
      command: () => checkSideRepositories(ctx, ['default'], () => {}),
      monthly: () => checkSideRepository.run({ sideRepositoryId: row.id }, ctx),
    }
    await chmod(blob, 0o600)
    for (const check of [checks.command, checks.monthly]) {
      await truncate(blob, 3)
      await check()
      expect(await listed()).toEqual([id])
      await writeFile(blob, content)
      await check()
      expect(await listed()).toEqual([])
    }
  })

  test('a check starts a month after the last one unless repository_checks_enabled is off', async ({ world }) => {
    const [due, recent, young] = [
      await written(world, { kind: 'project_wiki', id: (await world.project()).id }),
      await written(world, { kind: 'group_wiki', id: (await world.group()).id }),
      await written(world, { kind: 'project_wiki', id: (await world.project()).id }),
    ]
    await ageSideCheck(world, due.row.id, '31 days')
    await ageSideCheck(world, recent.row.id, '29 days')
    const started = async () => {
      await checkDueSideRepositories.run({}, await contextFor(world, null))
      const rows = await jobKeysLike(world, 'check_side_repository:%')
      return [due, recent, young].map(({ row }) => rows.some(({ key }) => key === `check_side_repository:${row.id}`))
    }
    await world.settings({ repository_checks_enabled: false })
    expect(await started()).toEqual([false, false, false])
    await world.settings({ repository_checks_enabled: true })
    expect(await started()).toEqual([true, false, false])
  })

  test('a wiki over the size limit of repositories takes no pages', async ({ world }) => {
    const { id } = await world.project()
    const { ctx, row } = await written(world, { kind: 'project_wiki', id })
    await saveSideSize(ctx.db, row.id, 3 * 1024 * 1024)
    await world.settings({ repository_size_limit: 2 })
    expect(await world.root.post(`/projects/${id}/wikis`, { title: 'x', content: 'x' })).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('has exceeded its size limit of 2 MB by 1.00 MB') },
    })
  })

  test('a nightly job removes old leftovers of crashes beside side repositories', async ({ world }) => {
    const { id } = await world.project()
    const { ctx, dir } = await written(world, { kind: 'project_wiki', id })
    const left = `${dir}.35ed7102-08f9-4977-8523-5c6e5f1d8e66.new`
    await mkdir(left, { recursive: true })
    const old = new Date(Date.now() - 2 * 60 * 60_000)
    await utimes(left, old, old)
    await removeRepositoryLeftovers.run({}, ctx)
    expect([existsSync(left), existsSync(dir)]).toEqual([false, true])
  })
})
