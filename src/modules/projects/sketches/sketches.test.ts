import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test } from '../../../../test/world.ts'
import { refreshRepository } from '../../pushes/pushes/jobs.ts'
import { gitCommands, storedProject } from '../../repository/commits/testing.ts'
import { checkRepository } from '../repository-checks/jobs.ts'
import { refreshSketches } from './jobs.ts'

const text = (n: number) => Array.from({ length: 12 }, (_, line) => `${line} of ${n}\n`).join('')

describe('sketches of a repository', () => {
  test('the history of a new file in a large repository needs no git process once the jobs after a push have run', async ({
    world,
  }) => {
    const project = await storedProject(world)
    const { repository } = project
    repository.commit(Object.fromEntries(Array.from({ length: 5_100 }, (_, n) => [`d${n % 40}/f${n}`, text(n)])))
    repository.commit({ 'd1/new': text(-1) })
    repository.commit({ 'd1/moved': text(7), 'd7/f7': null })
    const ctx = await contextFor(world, null)
    const sizeOf = async () =>
      (await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.repository_size

    await refreshRepository.run({ projectId: project.id }, ctx)
    const before = await sizeOf()
    expect(await world.jobs(`refresh_sketches:${project.id}`)).toHaveLength(1)
    await refreshSketches.run({ projectId: project.id }, ctx)
    await world.takeJobs(`refresh_sketches:${project.id}`)
    await refreshRepository.run({ projectId: project.id }, ctx)
    expect(await sizeOf()).toBe(before)
    expect(await world.jobs(`refresh_sketches:${project.id}`)).toHaveLength(0)

    const historyOf = async (path: string) => {
      const { json } = await world.root.get(
        `/projects/${project.id}/repository/commits?path=${encodeURIComponent(path)}`,
      )
      expect(json.map(({ id }: { id: string }) => id)).toEqual(
        repository.git('log', '--follow', '--format=%H', 'main', '--', path).split('\n'),
      )
    }
    const started = await gitCommands(world, () => historyOf('d1/new'))
    expect(started.filter((words) => !words.includes('cat-file'))).toEqual([])
    await historyOf('d1/moved')

    // As after a restore, which brings no sketches, or an upgrade that reads other ones.
    rmSync(join(repository.gitDir, 'objects/info/stithy-sketches'))
    await checkRepository.run({ projectId: project.id }, ctx)
    expect(await world.jobs(`refresh_sketches:${project.id}`)).toHaveLength(1)
  })
})
