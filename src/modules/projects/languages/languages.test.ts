import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobWaits } from '../../../../test/jobs.ts'
import { type TestProject, test, type World } from '../../../../test/world.ts'
import { type TestFile, TestGit } from '../../../git/testing.ts'
import { refreshLanguages } from './jobs.ts'
import { Linguist } from './linguist.ts'
import { languageShares } from './shares.ts'

let testGit: TestGit

beforeAll(async () => {
  testGit = await TestGit.start()
})
afterAll(() => testGit[Symbol.asyncDispose]())

const lines = (text: string, count: number) => `${text}\n`.repeat(count)

async function sharesOf(files: Record<string, TestFile>) {
  const { repo, ...made } = await repositoryWith(files)
  return Object.fromEntries((await languageShares(repo, made.head)).shares.map(({ name, share }) => [name, share]))
}

async function repositoryWith(files: Record<string, TestFile>) {
  const made = await testGit.repository()
  return { repo: made.repo, head: made.commit(files) }
}

describe('languages of a tree', () => {
  test('languages are shares of bytes, without vendored and generated files', async () => {
    const shares = await sharesOf({
      'src/a.ts': lines('const a: number = 1', 30),
      'src/b.py': lines('print("hello")', 20),
      'vendor/jquery.js': lines('var x = 1', 500),
      'node_modules/x/index.js': lines('var x = 1', 500),
      'docs/guide.js': lines('var x = 1', 500),
      'README.md': lines('# Title', 500),
      'data.json': `[${lines('1,', 500)}1]`,
      'picture.png': Buffer.from([0x89, 0x50, 0, 1, 2, 3]),
      empty: '',
      link: { mode: '120000', content: 'src/a.ts' },
    })
    expect(shares).toEqual({ TypeScript: 66.67, Python: 33.33 })
  })

  test('languages are detected by content when the name is ambiguous', async () => {
    const shares = await sharesOf({
      tool: '#!/usr/bin/env python3\nprint(1)\n',
      'a.h': '#include <string>\nnamespace a { class B; }\nstd::string c;\n',
      'film.ts': Buffer.concat([Buffer.from('G'), Buffer.alloc(5000)]),
      constructor: 'a name that every object has',
      'no idea.xyz123': 'text\n',
    })
    expect(Object.keys(shares).sort()).toEqual(['C++', 'Python'])
  })

  test('the five largest languages are listed, as percentages of the whole with two decimals', async () => {
    const names = ['a.c', 'a.rb', 'a.go', 'a.kt', 'a.py', 'a.lua', 'a.java']
    const shares = await sharesOf(Object.fromEntries(names.map((name, index) => [name, 'x'.repeat(10 + index)])))
    expect(shares).toEqual({ Java: 17.58, Lua: 16.48, Python: 15.38, Kotlin: 14.29, Go: 13.19 })
  })

  test('.gitattributes overrides the detection of languages', async () => {
    const shares = await sharesOf({
      '.gitattributes': [
        'mine/* linguist-vendored=false',
        'vendor/ours/** -linguist-vendored',
        'made/** linguist-generated',
        '*.inc linguist-language=php',
        '*.sql linguist-detectable',
        '*.lua -linguist-detectable',
        '*.m linguist-language=Objective-C',
      ].join('\n'),
      'vendor/ours/a.js': 'x'.repeat(100),
      'made/a.rb': 'x'.repeat(1000),
      'a.inc': 'x'.repeat(100),
      'a.sql': 'x'.repeat(100),
      'a.lua': 'x'.repeat(100),
      'a.m': 'x'.repeat(100),
    })
    expect(shares).toEqual({ JavaScript: 25, PHP: 25, SQL: 25, 'Objective-C': 25 })
  })

  const named = (linguist: Linguist, count = 1) =>
    linguist.name({
      files: Array.from({ length: count }, (_, index) => ({ path: `${index}.py` })),
      keepVendored: false,
      weighsContent: false,
    })
  const answers = async (linguist: Linguist) =>
    expect(await named(linguist)).toEqual([{ language: 'Python', others: [] }])
  // In batches, the last of which comes after the time is over.
  const timesOut = (linguist: Linguist) =>
    expect(named(linguist, 20_000)).rejects.toThrow('the language detection thread ended')

  test('language detection that times out ends its thread only', async () => {
    await using linguist = new Linguist({ timeoutMs: 1 })
    await timesOut(linguist)
  })

  test('language detection whose thread ended between two files fails', async () => {
    await using linguist = new Linguist({ timeoutMs: 1 })
    await setTimeout(200)
    await timesOut(linguist)
  })

  test('a thread is used again, unless it died', async () => {
    const use = async (timeoutMs: number, work: (linguist: Linguist) => Promise<void>) => {
      await using linguist = new Linguist({ timeoutMs })
      await work(linguist)
    }
    await use(60_000, answers)
    let started = 0
    const counted = () => started++
    process.on('worker', counted)
    onTestFinished(() => void process.off('worker', counted))
    await use(60_000, answers)
    expect(started).toBe(0)
    const atOnce = async (first: Linguist) =>
      use(60_000, async (second) => void (await Promise.all([answers(first), answers(second)])))
    await use(60_000, atOnce)
    expect(started).toBe(1)
    await use(1, timesOut)
    await use(60_000, answers)
    expect(started).toBe(2)
  })
})

describe('GET /projects/:id/languages', () => {
  const push = (world: World, project: TestProject, file_path: string, content: string) =>
    world.root.post(`/projects/${project.id}/repository/files/${encodeURIComponent(file_path)}`, {
      branch: 'master',
      content,
      commit_message: 'x',
    })
  const refresh = async (world: World, projectId: number) =>
    refreshLanguages.run({ projectId }, await contextFor(world, null))

  test('the languages of a project stay when those of another are found', async ({ world }) => {
    const [one, other] = [await world.project(), await world.project()]
    const languages = async ({ id }: TestProject) => (await world.root.get(`/projects/${id}/languages`)).json
    await push(world, other, 'a.rb', 'x'.repeat(200))
    await push(world, one, 'b.go', 'x'.repeat(100))
    for (const { id } of [other, one]) await refresh(world, id)
    expect([await languages(one), await languages(other)]).toEqual([{ Go: 100 }, { Ruby: 100 }])
  })

  test('D2-LANGUAGES-PERCENT: languages have percentages once the job has run', async ({ world }) => {
    const project = await world.project({ visibility: 'public' })
    const get = () => world.anonymous.get(`/projects/${project.id}/languages`)
    expect(await get()).toMatchObject({ status: 200, json: {} })
    await push(world, project, 'a.rb', 'x'.repeat(200))
    await push(world, project, 'b.go', 'x'.repeat(100))
    const [job] = await jobWaits(world, `refresh_languages:${project.id}`)
    expect(job).toEqual({ waits: true })
    await refresh(world, project.id)
    expect((await get()).json).toEqual({ Ruby: 66.67, Go: 33.33 })
    expect((await get()).text).toBe('{"Ruby":66.67,"Go":33.33}')
    const found = await world.anonymous.get(`/projects?with_programming_language=ruby&id_after=${project.id - 1}`)
    expect(found.json.map(({ id }: { id: number }) => id)).toEqual([project.id])
    await push(world, project, 'c.py', 'x'.repeat(300))
    await refresh(world, project.id)
    expect((await get()).json).toEqual({ Python: 50, Ruby: 33.33, Go: 16.67 })
  })

  test('a project whose files take too long to classify keeps no other project waiting: the job ends, and its languages are those found by then', async ({
    world,
  }) => {
    const project = await world.project()
    await push(world, project, 'a.rb', 'x')
    // Otherwise the job would use a thread that waits.
    await using _spare = new Linguist({ timeoutMs: 60_000 })
    const terminate = (thread: { terminate(): unknown }) => void thread.terminate()
    process.on('worker', terminate)
    onTestFinished(() => void process.off('worker', terminate))
    await refresh(world, project.id)
    process.off('worker', terminate)
    expect((await world.root.get(`/projects/${project.id}/languages`)).json).toEqual({})
    // The commit is done: only the next one is counted.
    await refresh(world, project.id)
    expect((await world.root.get(`/projects/${project.id}/languages`)).json).toEqual({})
    await push(world, project, 'b.go', 'x')
    await refresh(world, project.id)
    expect((await world.root.get(`/projects/${project.id}/languages`)).json).toEqual({ Ruby: 50, Go: 50 })
  })

  test('languages are found again once another branch is the default one', async ({ world }) => {
    const project = await world.project()
    await push(world, project, 'a.rb', 'x')
    await world.root.post(`/projects/${project.id}/repository/branches?branch=other&ref=master`)
    await world.takeJobs(`refresh_languages:${project.id}`)
    await world.root.put(`/projects/${project.id}`, { description: 'Described' })
    expect(await world.jobs(`refresh_languages:${project.id}`)).toEqual([])
    expect((await world.root.put(`/projects/${project.id}`, { default_branch: 'other' })).status).toBe(200)
    expect(await world.jobs(`refresh_languages:${project.id}`)).toHaveLength(1)
  })

  test('404 for languages unless the caller can read the project', async ({ world }) => {
    const [stranger, guest] = [await world.user(), await world.user()]
    const project = await world.project({ members: [[guest, 'guest']] })
    const status = async (who: typeof guest) => (await who.get(`/projects/${project.id}/languages`)).status
    expect([await status(world.anonymous), await status(stranger), await status(guest)]).toEqual([404, 404, 200])
  })
})
