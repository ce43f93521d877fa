import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { manySidePushes, sideRepositoryRows } from '../../../../test/tables/side-repositories.ts'
import { type TestGroup, test } from '../../../../test/world.ts'
import { openSideRepository } from '../side-repositories/open.ts'
import { findSideRepositoryById, saveSideSize } from '../side-repositories/queries.ts'
import { written } from '../side-repositories/testing.ts'
import { housekeepSideRepository, refreshSideRepository } from './side-jobs.ts'

describe('housekeeping of side repositories', () => {
  test('a job after pushes measures the repository, for the statistics of the project too', async ({ world }) => {
    const { id } = await world.project()
    const { ctx, row } = await written(world, { kind: 'project_wiki', id })
    const other = await written(world, { kind: 'project_wiki', id: (await world.project()).id })
    await refreshSideRepository.run({ sideRepositoryId: row.id }, ctx)
    expect((await findSideRepositoryById(ctx.db, other.row.id))!.size).toBe(0)
    const { size } = (await findSideRepositoryById(ctx.db, row.id))!
    expect(size).toBeGreaterThan(0)
    const { json } = await world.root.get(`/projects/${id}?statistics=true`)
    expect(json.statistics).toMatchObject({ wiki_size: size, storage_size: size + json.statistics.repository_size })
  })

  test('the wikis of a group, its subgroups and their projects are in its statistics', async ({ world }) => {
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner })
    const sizes: number[] = []
    for (const holder of [
      { kind: 'group_wiki', id: top.id },
      { kind: 'group_wiki', id: inner.id },
      { kind: 'project_wiki', id: project.id },
    ] as const) {
      const { ctx, row } = await written(world, holder)
      await refreshSideRepository.run({ sideRepositoryId: row.id }, ctx)
      sizes.push((await findSideRepositoryById(ctx.db, row.id))!.size)
    }
    const [ofTop, ofInner, ofProject] = sizes
    const statistics = async ({ id, path }: TestGroup) =>
      (await world.root.get(`/groups?statistics=true&search=${path}`)).json.find(
        (each: { id: number }) => each.id === id,
      ).statistics
    const outer = await statistics(top)
    expect(outer.wiki_size).toBe(ofTop! + ofInner! + ofProject!)
    expect(outer.storage_size).toBe(outer.wiki_size + outer.repository_size)
    expect((await statistics(inner)).wiki_size).toBe(ofInner! + ofProject!)
  })

  test('a repository is packed by a job of its own once enough pushes have accumulated', async ({ world }) => {
    const { id } = await world.project()
    const { ctx, row, dir } = await written(world, { kind: 'project_wiki', id })
    const packs = async () => (await readdir(join(dir, 'objects/pack'))).filter((name) => name.endsWith('.pack'))
    const input = { sideRepositoryId: row.id }
    const planned = () => world.takeJobs(`housekeep_side_repository:${row.id}`)
    await refreshSideRepository.run(input, ctx)
    expect(await planned()).toEqual([])
    await housekeepSideRepository.run(input, ctx)
    expect(await packs()).toEqual([])
    await manySidePushes(world, row.id)
    await refreshSideRepository.run(input, ctx)
    expect(await packs()).toEqual([])
    expect(await planned()).toMatchObject([{ payload: input }])
    await saveSideSize(ctx.db, row.id, 0)
    await housekeepSideRepository.run(input, ctx)
    expect(await packs()).toHaveLength(1)
    const [now] = await sideRepositoryRows(world, { project_id: id }, 'pushes', 'incremental_at', 'size')
    expect(now.incremental_at).toBe(now.pushes)
    expect(now.size).toBeGreaterThan(0)
    expect(await openSideRepository(ctx, row).exists()).toBe(true)
    await refreshSideRepository.run(input, ctx)
    expect(await planned()).toEqual([])
  })

  test('jobs of a repository whose row or files are gone do nothing', async ({ world }) => {
    const { id } = await world.project()
    const { ctx, row, dir } = await written(world, { kind: 'project_wiki', id })
    await manySidePushes(world, row.id)
    await ctx.git.removeRepository(dir)
    for (const sideRepositoryId of [row.id, 4_000_000])
      for (const job of [refreshSideRepository, housekeepSideRepository]) await job.run({ sideRepositoryId }, ctx)
    expect(await world.takeJobs('housekeep_side_repository:%')).toEqual([])
  })

  test('the jobs of one repository run one at a time', () => {
    const names = [refreshSideRepository, housekeepSideRepository].map((job) => job.alone!({ sideRepositoryId: 7 }))
    expect(names).toEqual(['side_repository:7', 'side_repository:7'])
  })
})
