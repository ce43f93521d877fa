import { randomBytes } from 'node:crypto'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { changeStatistics } from '../../../../test/tables/projects.ts'
import { ageHousekeeping, housekeepingOf, restartIncremental } from '../../../../test/tables/pushes.ts'
import { git, type TestProject, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { withDefaults } from '../../../settings/settings.ts'
import { dueHousekeeping } from '../../projects/repositories/housekeeping.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'
import { housekeepAfterPushes, refreshRepository } from '../pushes/jobs.ts'
import { housekeepRepository } from './jobs.ts'

const ask = (world: World, project: { id: number | string }, who = world.root) =>
  who.post(`/projects/${encodeURIComponent(project.id)}/housekeeping`)

const runHousekeeping = async (world: World, projectId: number) =>
  housekeepRepository.run({ projectId }, await contextFor(world, null))

const repositoryOf = async (world: World, id: number) =>
  projectRepositoryDir(await contextFor(world, null), { id, repository_storage: 'default' })

const write = (world: World, project: TestProject, name: string) =>
  world.root.post(`/projects/${project.id}/repository/files/${name}`, {
    branch: 'master',
    content: name,
    commit_message: 'x',
  })

async function counts(dir: string): Promise<Record<string, number>> {
  const lines = (await git(dir, 'count-objects', '-v')).split('\n').map((line) => line.split(': '))
  return Object.fromEntries(lines.map(([name, value]) => [name, Number(value)]))
}

const days = (count: number) => new Date(Date.now() - count * 24 * 60 * 60_000)

describe('POST /projects/:id/housekeeping', () => {
  test('D2-HOUSEKEEPING-ID: accepts an id or a path, returns null, and 409 within a day', async ({ world }) => {
    const [one, two] = [await world.project(), await world.project()]
    const accepted = { status: 201, text: 'null', json: null }
    expect(await ask(world, one)).toMatchObject(accepted)
    expect(await ask(world, { id: two.full_path })).toMatchObject(accepted)
    const locked = {
      status: 409,
      json: { message: 'Somebody already triggered housekeeping for this project in the past 1440 minutes' },
    }
    expect(await ask(world, one)).toMatchObject(locked)
    await ageHousekeeping(world, '1441 minutes')
    const answers = await Promise.all([ask(world, one), ask(world, one), ask(world, one)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  test.for([
    ['none', 404],
    ['developer', 403],
    ['maintainer', 201],
  ] as const)('housekeeping is for maintainers: %s gets %i', async ([level, status], { world }) => {
    const ann = await world.user()
    const project = await world.project({ members: level === 'none' ? [] : [[ann, level]] })
    expect((await ask(world, project, world.anonymous)).status).toBe(401)
    expect((await ask(world, project, ann)).status).toBe(status)
  })
})

describe('the housekeeping job', () => {
  test('housekeeping packs objects with a bitmap and refs, and updates the statistics', async ({ world }) => {
    const project = await world.project()
    for (const name of ['a', 'b', 'c']) await write(world, project, name)
    const dir = await repositoryOf(world, project.id)
    await changeStatistics(world, project.id, { repository_size: 1, commit_count: 9 })
    await runHousekeeping(world, project.id)
    expect(await counts(dir)).toMatchObject({ count: 0, packs: 1, 'in-pack': 9 })
    const packed = await readdir(join(dir, 'objects/pack'))
    expect(packed.some((name) => name.endsWith('.bitmap'))).toBe(true)
    expect(await git(dir, 'fsck', '--full')).toBe('')
    const { statistics } = (await world.root.get(`/projects/${project.id}?statistics=true`)).json
    expect(statistics.commit_count).toBe(3)
    expect(statistics.repository_size).toBeGreaterThan(100)
    await runHousekeeping(world, project.id)
    expect((await world.root.get(`/projects/${project.id}/repository/files/a/raw?ref=master`)).text).toBe('a')
  })

  test('records and housekeeping follow pushes after a crash that left locks of the commit-graph and of the index of packs', async ({
    world,
  }) => {
    const project = await world.project()
    const dir = await repositoryOf(world, project.id)
    const ctx = await contextFor(world, null)
    // The graph is written only for commits that are packed, or many.
    const refreshAfter = async (name: string) => {
      await write(world, project, name)
      await git(dir, 'repack', '-adq')
      await refreshRepository.run({ projectId: project.id }, ctx)
    }
    await refreshAfter('a')
    const leave = async (lock: string) => {
      await writeFile(join(dir, 'objects', lock), '')
      await utimes(join(dir, 'objects', lock), days(1), days(1))
    }
    await leave('info/commit-graphs/commit-graph-chain.lock')
    await refreshAfter('b')
    expect((await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.commit_count).toBe(2)
    await leave('pack/multi-pack-index.lock')
    await world.settings({ housekeeping_incremental_repack_period: 1 })
    try {
      await housekeepAfterPushes.run({ projectId: project.id }, await contextFor(world, null))
    } finally {
      await world.settings({ housekeeping_incremental_repack_period: 10 })
    }
    expect(await readdir(join(dir, 'objects/pack'))).toContain('multi-pack-index')
  })

  test('the commit-graph is written when it lacks more than a few commits, or packed ones', async ({ world }) => {
    const project = await world.project()
    const ctx = await contextFor(world, null)
    const dir = await repositoryOf(world, project.id)
    const commit = async (names: readonly string[]) => {
      for (const name of names) await write(world, project, name)
    }
    const written = async () => {
      await refreshRepository.run({ projectId: project.id }, ctx)
      return (await readdir(join(dir, 'objects/info/commit-graphs')).catch(() => [])).filter((name) =>
        name.endsWith('.graph'),
      )
    }
    const names = Array.from({ length: 21 }, (_, index) => `f${index}`)
    await commit(names.slice(0, 20))
    expect(await written()).toEqual([])
    await commit(names.slice(20))
    const first = await written()
    expect(first).toHaveLength(1)
    await commit(['x'])
    expect(await written()).toEqual(first)
    await git(dir, 'repack', '-adq')
    expect(await written()).not.toEqual(first)
    expect((await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.commit_count).toBe(22)
  })

  test('records of a project with many refs follow pushes after a crash that left the lock of packed refs', async ({
    world,
  }) => {
    const project = await world.project()
    await write(world, project, 'a')
    const dir = await repositoryOf(world, project.id)
    const oid = (await git(dir, 'rev-parse', 'master')).trim()
    for (let number = 0; number <= 500; number++) await writeFile(join(dir, `refs/tags/t${number}`), `${oid}\n`)
    await writeFile(join(dir, 'packed-refs.lock'), '')
    await utimes(join(dir, 'packed-refs.lock'), days(1), days(1))
    await refreshRepository.run({ projectId: project.id }, await contextFor(world, null))
    expect((await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.commit_count).toBe(1)
    expect(await readdir(join(dir, 'refs/tags'))).toEqual([])
  })

  test('housekeeping writes no bitmap when it is disabled', async ({ world }) => {
    const project = await world.project()
    await write(world, project, 'a')
    await world.settings({ housekeeping_bitmaps_enabled: false })
    try {
      await runHousekeeping(world, project.id)
    } finally {
      await world.settings({ housekeeping_bitmaps_enabled: true })
    }
    const packed = await readdir(join(await repositoryOf(world, project.id), 'objects/pack'))
    expect(packed.filter((name) => name.endsWith('.bitmap'))).toEqual([])
  })

  test('housekeeping removes objects unreachable for two weeks, and no newer ones', async ({ world }) => {
    const project = await world.project()
    await write(world, project, 'a')
    const dir = await repositoryOf(world, project.id)
    const tree = await git(dir, 'rev-parse', 'master^{tree}')
    const [old, young] = [
      await git(dir, 'commit-tree', '-m', 'old', tree),
      await git(dir, 'commit-tree', '-m', 'young', tree),
    ]
    const path = (oid: string) => join(dir, 'objects', oid.slice(0, 2), oid.slice(2))
    await utimes(path(old), days(15), days(15))
    await utimes(path(young), days(13), days(13))
    await runHousekeeping(world, project.id)
    await expect(git(dir, 'cat-file', '-e', old)).rejects.toThrow()
    expect(await git(dir, 'cat-file', '-t', young)).toBe('commit')
    expect(await git(dir, 'fsck', '--full', '--no-dangling')).toBe('')
  })

  test('concurrent pushes and reads lose nothing during housekeeping', async ({ world }) => {
    const project = await world.project()
    await write(world, project, 'first')
    await using work = await temporaryFolder()
    await git(work.path, 'clone', '-q', world.remote(project, world.root), '.')
    let busy = true
    const housekeeping = (async () => {
      while (busy) await runHousekeeping(world, project.id)
    })()
    for (let round = 0; round < 6; round++) {
      await git(work.path, 'commit', '-q', '--allow-empty', '-m', `Round ${round}`)
      await git(work.path, 'push', '-q', 'origin', `HEAD:refs/heads/branch-${round}`)
      expect((await write(world, project, `file-${round}`)).status).toBe(201)
      expect((await world.root.get(`/projects/${project.id}/repository/files/first/raw?ref=master`)).status).toBe(200)
    }
    busy = false
    await housekeeping
    const dir = await repositoryOf(world, project.id)
    expect(await git(dir, 'fsck', '--full', '--strict', '--no-dangling')).toBe('')
    expect(await git(dir, 'rev-parse', 'branch-5')).toBe(await git(work.path, 'rev-parse', 'HEAD'))
    await using clone = await temporaryFolder()
    await git(clone.path, 'clone', '-q', '--mirror', world.remote(project, world.root), '.')
    expect(await git(clone.path, 'rev-list', '--count', 'master')).toBe('7')
  })

  test('housekeeping of a project without a repository does nothing', async ({ world }) => {
    await runHousekeeping(world, (await world.project()).id)
    await runHousekeeping(world, 999_999_999)
  })
})

describe('housekeeping after pushes', () => {
  const row = (pushes: number, [incremental_at, full_at, gc_at]: readonly number[] = [0, 0, 0]) => ({
    pushes,
    incremental_at: incremental_at!,
    full_at: full_at!,
    gc_at: gc_at!,
  })

  test.for([
    ['no task before the first period ends', row(9), {}, []],
    ['incremental repack after 10 pushes', row(10), {}, ['incremental']],
    ['incremental repack 10 pushes after the last one', row(19, [10, 0, 0]), {}, []],
    ['full repack after 50 pushes', row(50, [40, 0, 0]), {}, ['full', 'incremental']],
    ['garbage collection after 200 pushes', row(200, [190, 150, 0]), {}, ['gc', 'full', 'incremental']],
    ['no task while disabled', row(500), { housekeeping_enabled: false }, []],
    ['no task with a period of 0', row(500), { housekeeping_gc_period: 0 }, ['full', 'incremental']],
    ['a shorter period', row(3), { housekeeping_full_repack_period: 3 }, ['full']],
  ] as const)('housekeeping after pushes: %s', ([, pushes, settings, kinds]) => {
    expect(dueHousekeeping(pushes, withDefaults(settings))).toEqual(kinds)
  })

  test('a large first push gets an index of all packs and a bitmap at once, and no further one', async ({ world }) => {
    const project = await world.project()
    const dir = await repositoryOf(world, project.id)
    const input = { projectId: project.id }
    const key = `housekeep_after_pushes:${project.id}`
    const bitmaps = async () => (await readdir(join(dir, 'objects/pack'))).filter((name) => name.endsWith('.bitmap'))
    await using work = await temporaryFolder()
    await git(work.path, 'init', '-q', '-b', 'master')
    for (let n = 0; n < 120; n++) await writeFile(join(work.path, `file-${n}`), randomBytes(50_000))
    await git(work.path, 'add', '.')
    await git(work.path, 'commit', '-q', '-m', 'First')
    await git(work.path, 'push', '-q', world.remote(project, world.root), 'master')
    await refreshRepository.run(input, await contextFor(world, null))
    expect(await world.jobs(key)).toHaveLength(1)
    expect(await bitmaps()).toEqual([])
    await housekeepAfterPushes.run(input, await contextFor(world, null))
    expect(await bitmaps()).toEqual([expect.stringMatching(/^multi-pack-index-/)])
    await world.takeJobs(key)
    await write(world, project, 'small')
    await refreshRepository.run(input, await contextFor(world, null))
    expect(await world.jobs(key)).toEqual([])
    await runHousekeeping(world, project.id)
    expect(await bitmaps()).toEqual([expect.stringMatching(/^pack-/)])
    expect(await git(dir, 'fsck', '--full', '--strict')).toBe('')
  })

  test('pushes over every transport count for housekeeping, which starts when due', async ({ world }) => {
    const project = await world.project()
    const dir = await repositoryOf(world, project.id)
    const input = { projectId: project.id }
    const key = `housekeep_after_pushes:${project.id}`
    const planned = async () => (await world.jobs(key)).map(({ is_delayed }) => ({ later: is_delayed }))
    await world.settings({ housekeeping_incremental_repack_period: 3 })
    try {
      for (const name of ['a', 'b']) await write(world, project, name)
      await refreshRepository.run(input, await contextFor(world, null))
      expect(await planned()).toEqual([])
      await write(world, project, 'c')
      await refreshRepository.run(input, await contextFor(world, null))
      expect(await planned()).toEqual([{ later: false }])
      expect(await counts(dir)).toMatchObject({ count: 9, packs: 0 })
      await housekeepAfterPushes.run(input, await contextFor(world, null))
      expect(await counts(dir)).toMatchObject({ count: 0, packs: 1 })
      expect(await housekeepingOf(world, project.id, 'pushes', 'incremental_at', 'gc_at')).toEqual([
        { pushes: 3, incremental_at: 3, gc_at: 0 },
      ])
      // It has just run: with constant pushes it takes a tenth of the time, and remains due.
      await world.takeJobs(key)
      await restartIncremental(world, project.id)
      await housekeepAfterPushes.run(input, await contextFor(world, null))
      expect(await planned()).toEqual([{ later: true }])
    } finally {
      await world.settings({ housekeeping_incremental_repack_period: 10 })
    }
  })
})
