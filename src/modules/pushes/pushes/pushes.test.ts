import { randomBytes } from 'node:crypto'
import { mkdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobKeys } from '../../../../test/jobs.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { agePush, pushesInState, pushRows, refsOfPush } from '../../../../test/tables/pushes.ts'
import { git, type TestProject, temporaryFolder, test, type World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { TestRepository } from '../../../git/testing.ts'
import { loadProject } from '../../projects/projects/subject.ts'
import { openForWriting, openRepository } from '../../projects/repositories/open.ts'
import { decide } from './decide.ts'
import { refreshRepository } from './jobs.ts'
import { completePush, recordIntent, settle } from './journal.ts'
import { moveRefs } from './move-refs.ts'
import { recoverPushes, settleCutOffPushes } from './recovery.ts'
import { repositoryFacts } from './repository-facts.ts'

const ref = (name: string) => name as RefName
const oid = (digit: string) => digit.repeat(40) as Oid
/** The right to push stays. */
const allowed = async () => {}

/** Records a push of the administrator over HTTP. */
const intend = (ctx: Ctx, { id }: TestProject, changes: readonly RefChange[]) =>
  recordIntent(ctx, { projectId: id, actorId: 1, transport: 'http', options: [], changes }, allowed)

/** Commits these files on `branch` and pushes it; resolves with the commit. */
async function push(world: World, project: TestProject, files: Record<string, string>, branch = 'main'): Promise<Oid> {
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q', '-b', branch)
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder.path, name, '..'), { recursive: true })
    await writeFile(join(folder.path, name), content)
  }
  await git(folder.path, 'add', '.')
  await git(folder.path, 'commit', '-qm', 'Files')
  await git(folder.path, 'push', '-q', world.remote(project, world.root), branch)
  return (await git(folder.path, 'rev-parse', 'HEAD')) as Oid
}

describe('the decision on a push', () => {
  test.for([
    { sentence: 'a branch may be created', name: 'refs/heads/next', from: null, to: oid('1'), text: undefined },
    { sentence: 'another branch may be deleted', name: 'refs/heads/next', from: oid('1'), to: null, text: undefined },
    {
      sentence: 'the default branch cannot be deleted',
      name: 'refs/heads/main',
      from: oid('1'),
      to: null,
      text: 'The default branch of a project cannot be deleted.',
    },
    {
      sentence: 'a branch cannot be named like a commit',
      name: `refs/heads/${'a'.repeat(40)}`,
      from: null,
      to: oid('1'),
      text: 'You cannot create a branch with a 40-character hexadecimal branch name.',
    },
    {
      sentence: 'a branch named like a commit may be deleted',
      name: `refs/heads/${'a'.repeat(40)}`,
      from: oid('1'),
      to: null,
      text: undefined,
    },
    {
      sentence: 'hidden refs cannot be changed',
      name: 'refs/keep-around/1',
      from: null,
      to: oid('1'),
      text: expect.stringContaining('is not yours to change'),
    },
  ])('the decision on a push: $sentence', async ({ name, from, to, text }, { world }) => {
    const project = await world.project()
    await changeProject(world, project.id, { default_branch: 'main' })
    const ctx = await contextFor(world, world.root)
    const found = (await loadProject(String(project.id), ctx))!
    const harmless = { name: ref('refs/heads/other'), from: null, to: oid('2') }
    const { refused } = await decide(
      ctx,
      project.id,
      [harmless, { name: ref(name), from, to }],
      async () => openRepository(ctx, found),
      {
        transport: 'http',
      },
    )
    expect(refused).toEqual(text)
  })

  test('the decision on a push uses the current rights of the user', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    const ctx = await contextFor(world, ann)
    const subject = (await loadProject(String(project.id), ctx))!
    const repo = async () => openRepository(ctx, subject)
    await changeProject(world, project.id, { default_branch: 'main' })
    const changes = [{ name: ref('refs/heads/x'), from: null, to: oid('1') }]
    const verdict = async () => (await decide(ctx, project.id, changes, repo, { transport: 'http' })).refused
    expect(await verdict()).toBeUndefined()
    await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 })
    const refused = 'You are not allowed to push code to this project.'
    expect(await verdict()).toBe(refused)
    await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 30 })
    await world.archive(project)
    expect(await verdict()).toBe(refused)
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await verdict()).toBe(refused)
  })
})

describe('the size limit of a repository', () => {
  test('refuses a push that would exceed it, to a project or a wiki', async ({ world }) => {
    const project = await world.project()
    await world.settings({ repository_size_limit: 1 })
    const half = () => randomBytes(600_000).toString('hex')
    for (const url of [project.url, project.url.replace(/\.git$/, '.wiki.git')]) {
      const repository = { ...project, url }
      await push(world, repository, { half: half() }, 'one')
      await expect(push(world, repository, { half: half(), other: half() }, 'two')).rejects.toThrow(
        /this repository would exceed its size limit of 1 MB by 0\.\d\d MB/,
      )
    }
  })

  test('refuses a commit of the API that would exceed it, in a project, wiki or snippet, and stores nothing of it', async ({
    world,
  }) => {
    const project = await world.project({ initialize_with_readme: true })
    const at = `/projects/${project.id}`
    const branch = (await world.root.get(at)).json.default_branch
    const snippet = (await world.root.post('/snippets', { title: 't', file_name: 'a', content: 'a' })).json
    await world.settings({ repository_size_limit: 1 })
    const content = randomBytes(1_200_000).toString('base64')
    const message = expect.stringMatching(/this repository would exceed its size limit of 1 MB by 0\.\d\d MB/)
    const file = { branch, commit_message: 'x', content }
    const repo = openRepository(
      await contextFor(world, null),
      (await loadProject(String(project.id), await contextFor(world, world.root)))!,
    )
    const { repositorySize: before } = await repositoryFacts(repo, branch)
    expect(await world.root.post(`${at}/repository/files/a`, file)).toMatchObject({ status: 400, json: { message } })
    expect((await repositoryFacts(repo, branch)).repositorySize).toBe(before)
    expect(await world.root.post(`${at}/wikis`, { title: 'a', content })).toMatchObject({
      status: 400,
      json: { message },
    })
    expect(await world.root.put(`/snippets/${snippet.id}`, { content })).toMatchObject({
      status: 400,
      json: { message },
    })
    // What counts are the bytes on disk.
    expect(
      await world.root.post(`${at}/repository/files/a`, { ...file, content: 'a'.repeat(1_600_000) }),
    ).toMatchObject({
      status: 201,
    })
  })

  test('does not count what a push or maintenance is writing meanwhile', async ({ world }) => {
    const project = await world.project()
    await push(world, project, { a: 'a' })
    const ctx = await contextFor(world, null)
    const repo = openRepository(ctx, (await loadProject(String(project.id), await contextFor(world, world.root)))!)
    const { repositorySize: before } = await repositoryFacts(repo, 'main')
    await mkdir(join(repo.gitDir, 'objects/tmp_objdir-incoming-x/pack'), { recursive: true })
    for (const name of ['tmp_objdir-incoming-x/pack/tmp_pack_x', 'pack/tmp_pack_y', 'pack/.tmp-1-pack-x.pack'])
      await writeFile(join(repo.gitDir, 'objects', name), randomBytes(10_000))
    expect((await repositoryFacts(repo, 'main')).repositorySize).toBe(before)
  })
})

describe('settling of pushes', () => {
  const events = (world: World, project: TestProject) =>
    eventsOf(world, { project: project.id, kind: 'pushed' }, 'payload')

  test('settling a push records the refs that moved, emits one event, and drops others', async ({ world }) => {
    const project = await world.project()
    const head = await push(world, project, { a: 'a' })
    const ctx = await contextFor(world, world.root)
    const before = (await events(world, project)).length
    const intended = await recordIntent(
      ctx,
      {
        projectId: project.id,
        actorId: 1,
        transport: 'api',
        options: [],
        changes: [
          { name: ref('refs/heads/main'), from: null, to: head },
          { name: ref('refs/heads/never'), from: null, to: oid('1') },
        ],
      },
      allowed,
    )
    expect((await settle(ctx, intended)).map(({ name }) => name)).toEqual(['refs/heads/main'])
    expect(await settle(ctx, intended)).toEqual([])
    const emitted = (await events(world, project)).slice(before)
    expect(emitted).toMatchObject([{ payload: { push_id: intended, ref_count: 1 } }])
    const moved = await refsOfPush(world, intended)
    expect(moved).toEqual([
      { name: 'refs/heads/main', moved: true },
      { name: 'refs/heads/never', moved: false },
    ])
  })

  test.for(['main', 'another'])(
    'a push settled by its own process emits one event whatever became default: known %s',
    async (known, { world }) => {
      const project = await world.project()
      const head = await push(world, project, { a: 'a' })
      const ctx = await contextFor(world, world.root)
      const repo = openRepository(ctx, (await loadProject(String(project.id), ctx))!)
      const before = (await events(world, project)).length
      await git(repo.gitDir, 'update-ref', 'refs/heads/x', head)
      const changes = [{ name: ref('refs/heads/x'), from: null, to: head }]
      const intent = { projectId: project.id, actorId: 1, transport: 'api', options: [], changes } as const
      const id = await recordIntent(ctx, intent, allowed)
      await completePush(ctx, repo, { id, ...intent }, known)
      await completePush(ctx, repo, { id, ...intent }, known)
      expect((await events(world, project)).slice(before)).toMatchObject([{ payload: { push_id: id, ref_count: 1 } }])
    },
  )

  test('a push that cannot be settled does not block others and is retried', async ({ world }) => {
    const ctx = await contextFor(world, world.root)
    const [broken, sound] = [await world.project(), await world.project()]
    const pushIds: number[] = []
    for (const project of [broken, sound]) {
      await push(world, project, { a: 'a' })
      const changes = [{ name: ref('refs/heads/x'), from: null, to: oid('1') }]
      pushIds.push(await intend(ctx, project, changes))
    }
    const states = async () => {
      const rows = await pushRows(world, pushIds, 'state')
      return rows.map(({ state }) => state)
    }
    const dir = openRepository(ctx, (await loadProject(String(broken.id), ctx))!).gitDir
    await mkdir(join(dir, 'packed-refs'))
    // As many cannot be settled as are read at once.
    await recoverPushes(ctx, 0, (ids) => ids, 1)
    expect(await states()).toEqual(['intended', 'dropped'])
    await rmdir(join(dir, 'packed-refs'))
    await recoverPushes(ctx, 0)
    expect(await states()).toEqual(['dropped', 'dropped'])
  })

  test('a push that was cut off is settled once it is two minutes old and has been pending for half a minute of this process', async ({
    world,
  }) => {
    const ctx = await contextFor(world, null)
    const project = await world.project()
    await push(world, project, { a: 'a' })
    const changes = [{ name: ref('refs/heads/x'), from: null, to: oid('1') }]
    const intent = { projectId: project.id, actorId: 1, transport: 'http', options: [], changes } as const
    const [old, young] = [await recordIntent(ctx, intent, allowed), await recordIntent(ctx, intent, allowed)]
    await agePush(world, old, '125 seconds')
    const real = performance.now.bind(performance)
    let aheadMs = 0
    using _clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + aheadMs)
    const statesAfter = async (ms: number) => {
      aheadMs += ms
      await settleCutOffPushes.run({}, ctx)
      return (await pushRows(world, [old, young], 'state')).map(({ state }) => state)
    }
    // A clock that is set forward makes pending pushes look old at once.
    expect(await statesAfter(0)).toEqual(['intended', 'intended'])
    expect(await statesAfter(1000)).toEqual(['intended', 'intended'])
    expect(await statesAfter(30_000)).toEqual(['dropped', 'intended'])
  })

  test('a push of a branch that cannot be the default leaves the project without one', async ({ world }) => {
    const project = await world.project()
    const ctx = await contextFor(world, world.root)
    const repo = await openForWriting(ctx, (await loadProject(String(project.id), ctx))!)
    const to = new TestRepository(repo).commit({ a: 'a' }, { branch: '-x' })
    const changes = [{ name: ref('refs/heads/-x'), from: null, to }]
    const intended = await intend(ctx, project, changes)
    expect(await settle(ctx, intended)).toHaveLength(1)
    expect((await world.root.get(`/projects/${project.id}`)).json.default_branch).toBeNull()
  })

  test('a push that moved nothing emits no event', async ({ world }) => {
    const project = await world.project()
    const ctx = await contextFor(world, world.root)
    const changes = [{ name: ref('refs/heads/x'), from: null, to: oid('1') }]
    const intended = await intend(ctx, project, changes)
    expect(await settle(ctx, intended)).toEqual([])
    expect(await events(world, project)).toEqual([])
    expect(await pushRows(world, intended, 'state')).toEqual([{ state: 'dropped' }])
  })

  test('a push of refs that another push had already moved emits no event', async ({ world }) => {
    const project = await world.project()
    const head = await push(world, project, { a: 'a' })
    const ctx = await contextFor(world, world.root)
    const repo = openRepository(ctx, (await loadProject(String(project.id), ctx))!)
    const before = await events(world, project)
    const again = { name: ref('refs/heads/main'), from: null, to: head }
    expect(await moveRefs(ctx, project.id, repo, [again])).toBe('stale')
    expect(await events(world, project)).toEqual(before)
  })

  test('the rows that a move needs are written after its intent and before the ref moves, and not for a refused one', async ({
    world,
  }) => {
    const project = await world.project()
    await push(world, project, { a: 'a' })
    const ctx = await contextFor(world, world.root)
    const repo = openRepository(ctx, (await loadProject(String(project.id), ctx))!)
    const to = new TestRepository(repo).commit({ b: 'b' }, { branch: 'other' })
    const name = ref('refs/heads/new')
    const intents = async () => (await pushesInState(world, project.id, 'intended')).length
    const seen: unknown[] = []
    const link = async () => void seen.push([await intents(), await readRef(repo, name)])
    expect(await moveRefs(ctx, project.id, repo, [{ name, from: null, to }], { link })).toBe('moved')
    expect(seen).toEqual([[1, undefined]])

    const gone = [{ name, from: to, to: null }]
    const failing = async () => Promise.reject(new Error('no room'))
    await expect(moveRefs(ctx, project.id, repo, gone, { link: failing })).rejects.toThrow('no room')
    expect([await intents(), await readRef(repo, name)]).toEqual([0, to])
    await world.root.post(`/projects/${project.id}/push_rule`, { branch_name_regex: '^ok' })
    const refused = [{ name: ref('refs/heads/bad'), from: null, to }]
    await expect(moveRefs(ctx, project.id, repo, refused, { link })).rejects.toThrow('^ok')
    expect(seen).toHaveLength(1)
  })

  test('the first pushed branch becomes the default, later ones do not', async ({ world }) => {
    const project = await world.project()
    const branch = async () => (await world.root.get(`/projects/${project.id}`)).json.default_branch
    await push(world, project, { a: 'a' }, 'trunk')
    expect(await branch()).toBe('trunk')
    await push(world, project, { a: 'a' }, 'master')
    expect(await branch()).toBe('trunk')
  })
})

const mit = `MIT License

Copyright (c) 2020 Example

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

describe('README and licence of a project', () => {
  test('README and licence are updated before the response to a commit, push or edit', async ({ world }) => {
    const project = await world.project({ initialize_with_readme: true })
    const { json: made } = await world.root.get(`/projects/${project.id}`)
    expect(made).toMatchObject({ readme_url: expect.stringMatching(/\/-\/blob\/master\/README\.md$/) })
    const shown = async () => (await world.root.get(`/projects/${project.id}?license=true`)).json
    const commit = { branch: 'master', commit_message: 'Say how it may be used', content: 'As you like.' }
    await world.root.post(`/projects/${project.id}/repository/files/LICENCE.txt`, commit)
    expect(await shown()).toMatchObject({
      license_url: expect.stringMatching(/\/-\/blob\/master\/LICENCE\.txt$/),
      license: { key: 'other' },
    })

    await push(world, project, { 'readme.rst': 'Next', COPYING: mit }, 'next')
    expect(await shown()).toMatchObject({ readme_url: expect.stringMatching(/master\/README\.md$/) })
    await world.root.put(`/projects/${project.id}`, { default_branch: 'next' })
    expect(await shown()).toMatchObject({
      readme_url: expect.stringMatching(/\/-\/blob\/next\/readme\.rst$/),
      license: { key: 'mit' },
    })
  })

  test('changing the default branch queues a recount of languages and commits', async ({ world }) => {
    const project = await world.project({ initialize_with_readme: true })
    await push(world, project, { 'a.rb': 'puts 1' }, 'next')
    await world.takeJobs(`%:${project.id}`)
    await world.root.put(`/projects/${project.id}`, { default_branch: 'next' })
    const jobs = await jobKeys(world)
    expect(jobs.map(({ key }) => key)).toEqual(
      expect.arrayContaining([`refresh_languages:${project.id}`, `refresh_repository:${project.id}`]),
    )
  })
})

describe('the job after a push', () => {
  const refreshed = async (world: World, project: TestProject) => {
    await refreshRepository.run({ projectId: project.id }, await contextFor(world, null))
    return (await world.root.get(`/projects/${project.id}?statistics=true&license=true`)).json
  }

  test('the job after a push finds README and licence at the root, and counts', async ({ world }) => {
    const project = await world.project()
    await push(world, project, { readme: 'plain', 'README.md': '# Hi', LICENSE: mit, 'docs/README.md': 'no' })
    const web = `${world.origin}/${project.full_path}/-/blob/main`
    expect(await refreshed(world, project)).toMatchObject({
      readme_url: `${web}/README.md`,
      license_url: `${web}/LICENSE`,
      license: { key: 'mit', name: 'MIT License', html_url: expect.any(String), source_url: expect.anything() },
      statistics: { commit_count: 1, repository_size: expect.any(Number) },
    })
    const { json } = await world.root.get(`/projects/${project.id}`)
    expect(json).not.toHaveProperty('license')
  })

  test('the job after a push leaves the README, licence and counts of other projects', async ({ world }) => {
    const [one, other] = [await world.project(), await world.project()]
    await push(world, other, { 'README.md': '# Hi', LICENSE: mit })
    const before = await refreshed(world, other)
    expect(before).toMatchObject({ readme_url: expect.any(String), statistics: { commit_count: 1 } })
    for (const branch of ['main', 'side']) await push(world, one, { [branch]: 'x' }, branch)
    expect(await refreshed(world, one)).toMatchObject({ readme_url: null })
    expect((await world.root.get(`/projects/${other.id}?statistics=true&license=true`)).json).toEqual(before)
  })

  test('a project without README and licence has null, and an unknown licence is other', async ({ world }) => {
    const [bare, own] = [await world.project(), await world.project()]
    await push(world, bare, { 'src/a': 'a' })
    expect(await refreshed(world, bare)).toMatchObject({ readme_url: null, license_url: null, license: null })
    await push(world, own, { 'COPYING.txt': 'Do as you like, but be kind.' })
    expect(await refreshed(world, own)).toMatchObject({ license: { key: 'other', name: 'Other' } })
  })

  test('a licence is found by its whole file name, and one that is too long is other', async ({ world }) => {
    const [near, long] = [await world.project(), await world.project()]
    await push(world, near, { 'license-checker.js': mit, 'licenses.json': '{}' })
    expect(await refreshed(world, near)).toMatchObject({ license_url: null, license: null })
    await push(world, long, { LICENSE: mit.repeat(300), 'README.md': 'Hi' })
    expect(await refreshed(world, long)).toMatchObject({
      readme_url: expect.stringContaining('README.md'),
      license_url: expect.stringContaining('LICENSE'),
      license: { key: 'other' },
      statistics: { commit_count: 1 },
    })
  })

  test('the job after a push ignores empty and missing projects', async ({ world }) => {
    const project = await world.project()
    expect(await refreshed(world, project)).toMatchObject({ empty_repo: true, statistics: { commit_count: 0 } })
    await refreshRepository.run({ projectId: 2147483647 }, await contextFor(world, null))
  })
})
