import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { addProjectsWithoutCode, changeProject, deleteProject, inMinutes } from '../../../../test/tables/projects.ts'
import { type Client, type TestGroup, test, unique, World } from '../../../../test/world.ts'
import type { Visibility } from '../../../access/levels.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'

const scopes = ['blobs', 'commits'] as const
type Scope = (typeof scopes)[number]

const find = (who: Client, within: string, query: Record<string, string>) =>
  who.get(`${within}/search?${new URLSearchParams(query)}`)

/** Ids of the projects with results, in the order of the response. */
async function projectsIn(who: Client, within: string, scope: Scope, search: string): Promise<number[]> {
  const { status, json, text } = await find(who, within, { scope, search, per_page: '100' })
  expect(status, text).toBe(200)
  return json.map((found: { project_id: number }) => found.project_id)
}

/** A project with the word in a file and in a commit message. */
async function withWord(world: World, word: string, how: Parameters<typeof storedProject>[1] = {}) {
  const project = await storedProject(world, how)
  project.repository.commit({ 'a.txt': `one ${word}\n` }, { message: `Say ${word} in ${project.id}` })
  return project
}

/** A world without the projects of other tests: a search without a group runs git in each of the hundred most active projects. */
let quiet: Promise<World> | undefined
const quietWorld = () => (quiet ??= World.start())
afterAll(async () => (await quiet)?.[Symbol.asyncDispose]())

const isActive = (world: World, { id }: { id: number }, minutes: number) =>
  changeProject(world, id, { last_activity_at: inMinutes(minutes) })

describe.for(scopes)('search of %s in several projects', (scope) => {
  /** Attributes of each project, and who finds it: `open` projects are also found by the callers named after it. */
  test('search in several projects finds only what the caller can read', async () => {
    const world = await quietWorld()
    const word = unique('needle')
    const external = await world.user({ external: true })
    const callers = { stranger: await world.user(), external, admin: world.root } as Record<string, Client>
    const levels = ['guest', 'reporter', 'developer', 'maintainer', 'owner'] as const
    for (const level of levels) callers[level] = await world.user()
    const group = await world.group({ visibility: 'public', members: levels.map((level) => [callers[level]!, level]) })
    const restricted = async (visibility: Visibility, repository_access_level: string) => {
      const project = await withWord(world, word, { group, visibility })
      const set = { repository_access_level, merge_requests_access_level: 'disabled', builds_access_level: 'disabled' }
      expect((await world.root.put(`/projects/${project.id}`, set)).status).toBe(200)
      return project.id
    }
    const ids = {
      public: (await withWord(world, word, { group })).id,
      internal: (await withWord(world, word, { group, visibility: 'internal' })).id,
      private: (await withWord(world, word, { group, visibility: 'private' })).id,
      membersOnly: await restricted('public', 'private'),
      disabled: await restricted('public', 'disabled'),
    }
    const elsewhere = (await withWord(world, word, { visibility: 'private' })).id
    const visible = [ids.public, ids.internal]
    const expected: Record<string, number[]> = {
      stranger: visible,
      external: [ids.public],
      guest: [...visible, ids.membersOnly],
      ...Object.fromEntries(
        ['reporter', 'developer', 'maintainer', 'owner', 'admin'].map((who) => [
          who,
          [...visible, ids.private, ids.membersOnly],
        ]),
      ),
    }
    const sorted = (found: number[]) => found.toSorted((a, b) => a - b)
    for (const [who, caller] of Object.entries(callers)) {
      const mine = who === 'admin' ? [elsewhere] : []
      expect(sorted(await projectsIn(caller, `/groups/${group.id}`, scope, word)), who).toEqual(sorted(expected[who]!))
      expect(sorted(await projectsIn(caller, '', scope, word)), who).toEqual(sorted([...expected[who]!, ...mine]))
    }
    for (const within of ['', `/groups/${group.id}`])
      expect((await find(world.anonymous, within, { scope, search: word })).status).toBe(401)
  })

  test('group search covers the group and its subgroups, not its ancestors or shared projects', async ({ world }) => {
    const word = unique('needle')
    const top = await world.group()
    const group = await world.group({ parent: top })
    const below = await world.group({ parent: group })
    const inGroup = async (where: TestGroup) =>
      (await withWord(world, word, { group: where, visibility: 'private' })).id
    const [above, here, deep, beside] = [
      await inGroup(top),
      await inGroup(group),
      await inGroup(below),
      await inGroup(await world.group()),
    ]
    await world.root.post(`/projects/${beside}/share`, { group_id: group.id, group_access: 20 })
    const found = await projectsIn(world.root, `/groups/${group.id}/-`, scope, word)
    expect(found.toSorted((a, b) => a - b)).toEqual([here, deep])
    expect(found).not.toContain(above)
    expect((await find(await world.user(), `/groups/${group.id}`, { scope, search: word })).status).toBe(404)
  })

  test('search of the default branches finds their current commits', async ({ world }) => {
    const [word, later] = [unique('needle'), unique('later')]
    const group = await world.group({ visibility: 'public' })
    const project = await withWord(world, word, { group })
    project.repository.commit({ 'b.txt': `${later}\n` }, { branch: 'side', message: later })
    await storedProject(world, { group })
    const search = () => projectsIn(world.root, `/groups/${group.id}`, scope, later)
    expect(await search()).toEqual([])
    project.repository.commit({ 'b.txt': `${later}\n` }, { message: later })
    expect(await search()).toEqual([project.id])
  })

  test('search in several projects is paged and has totals', async ({ world }) => {
    const word = unique('needle')
    const group = await world.group({ visibility: 'public' })
    for (let n = 0; n < 3; n++) await withWord(world, word, { group })
    const page = (number: string) =>
      find(world.root, `/groups/${group.id}`, { scope, search: word, per_page: '2', page: number })
    expect(await page('1')).toMatchObject({ headers: { 'x-total': '3', 'x-next-page': '2' } })
    expect((await page('2')).json).toHaveLength(1)
    expect((await find(world.root, `/groups/${group.id}`, { scope, search: 'a\nb' })).json).toEqual({
      message: 'search must be one line',
    })
  })

  test('search covers the hundred most recently active projects, then without totals', async ({ world }) => {
    const word = unique('needle')
    const group = await world.group({ visibility: 'public' })
    const [old, fresh] = [await withWord(world, word, { group }), await withWord(world, word, { group })]
    await isActive(world, old, -10)
    await isActive(world, fresh, 10)
    const names = unique('empty')
    await addProjectsWithoutCode(world, group, names)
    const bounded = await find(world.root, `/groups/${group.id}`, { scope, search: word })
    expect(bounded.json.map(({ project_id }: { project_id: number }) => project_id)).toEqual([fresh.id])
    expect(bounded.headers['x-total']).toBeUndefined()
    await deleteProject(world, { name: `${names}1` })
    const whole = await find(world.root, `/groups/${group.id}`, { scope, search: word })
    expect([whole.json.length, whole.headers['x-total']]).toEqual([2, '2'])
  })

  test('search continues when a repository is missing or broken', async ({ world }) => {
    const word = unique('needle')
    const group = await world.group({ visibility: 'public' })
    const projects: StoredProject[] = []
    for (let n = 0; n < 4; n++) projects.push(await withWord(world, word, { group }))
    const [gone, broken, ...whole] = projects as [StoredProject, StoredProject, ...StoredProject[]]
    const objects = join(broken.repository.gitDir, 'objects')
    for (const folder of await readdir(objects))
      if (folder.length === 2) await rm(join(objects, folder), { recursive: true })
    for (const file of await readdir(join(objects, 'pack'))) await rm(join(objects, 'pack', file))
    await rm(join(gone.repository.gitDir, 'objects'), { recursive: true })
    const answer = await find(world.root, `/groups/${group.id}`, { scope, search: word })
    const found = answer.json.map(({ project_id }: { project_id: number }) => project_id)
    expect(found.toSorted()).toEqual(whole.map(({ id }) => id).toSorted())
    expect(answer.headers['x-total']).toBeUndefined()
    // Other tests search the same instance.
    await changeProject(world, [gone.id, broken.id], { deleting: true })
  })
})

describe('blobs of several projects', () => {
  test('blobs are found by project, most recently active first, with the branch', async ({ world }) => {
    const word = unique('needle')
    const group = await world.group({ visibility: 'public' })
    const [one, two] = [await withWord(world, word, { group }), await withWord(world, word, { group })]
    two.repository.commit({ 'b.md': `x\n${word} again\n` })
    await isActive(world, one, 1)
    const { json } = await find(world.root, `/groups/${group.id}`, { scope: 'blobs', search: word })
    expect(json).toEqual([
      expect.objectContaining({ project_id: one.id, path: 'a.txt', ref: 'main', startline: 1, data: `one ${word}\n` }),
      expect.objectContaining({ project_id: two.id, path: 'a.txt' }),
      expect.objectContaining({ project_id: two.id, path: 'b.md', data: `x\n${word} again\n` }),
    ])
    expect(await projectsIn(world.root, `/groups/${group.id}`, 'blobs', `${word} extension:md`)).toEqual([two.id])
  })

  test('a blob search of only filters finds the files, each once, with their first lines', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const [one, two] = [await storedProject(world, { group }), await storedProject(world, { group })]
    one.repository.commit({ 'catalog-info.yaml': '1\n2\n3\n4\n', other: 'x\n' })
    two.repository.commit({ 'a/catalog-info.yaml': 'x\n', 'b/catalog-info.yaml': 'y\n' })
    await isActive(world, one, 1)
    const { json } = await find(world.root, `/groups/${group.id}`, {
      scope: 'blobs',
      search: 'filename:catalog-info.yaml',
    })
    expect(json).toEqual([
      expect.objectContaining({ project_id: one.id, path: 'catalog-info.yaml', startline: 1, data: '1\n2\n3\n' }),
      expect.objectContaining({ project_id: two.id, path: 'a/catalog-info.yaml', ref: 'main', data: 'x\n' }),
      expect.objectContaining({ project_id: two.id, path: 'b/catalog-info.yaml', data: 'y\n' }),
    ])
  })

  test('blobs are found in every project with the same commit', async ({ world }) => {
    const word = unique('needle')
    const group = await world.group({ visibility: 'public' })
    const copies = [await storedProject(world, { group }), await storedProject(world, { group })]
    for (const { repository } of copies) repository.commit({ a: word }, { message: 'the same', seconds: 1000 })
    const found = await projectsIn(world.root, `/groups/${group.id}`, 'blobs', word)
    expect(found.toSorted()).toEqual(copies.map(({ id }) => id).toSorted())
  })
})

describe('commits of several projects', () => {
  test('commits of several projects are found newest first, each once', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const word = unique('needle')
    const [one, two] = [await storedProject(world, { group }), await storedProject(world, { group })]
    const say = (project: StoredProject, what: string, seconds: number) =>
      project.repository.commit({ a: what }, { message: `${what} ${word}`, seconds })
    const [shared] = [say(one, 'shared', 100), say(two, 'shared', 100)]
    const middle = say(one, 'middle', 200)
    const last = say(two, 'last', 300)
    const { json } = await find(world.root, `/groups/${group.id}`, { scope: 'commits', search: word.toUpperCase() })
    expect(json.map(({ id, project_id }: { id: string; project_id: number }) => [id, project_id])).toEqual([
      [last, two.id],
      [middle, one.id],
      [shared, expect.any(Number)],
    ])
    expect(json[0].web_url).toContain(two.full_path)
  })

  test('commits are found by a prefix of their id if a default branch contains them', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const [one, two] = [await withWord(world, 'x', { group }), await withWord(world, 'y', { group })]
    const wanted = two.repository.commit({ b: 'b' }, { message: 'wanted' })
    two.repository.commit({ b: 'c' }, { message: `Revert ${wanted}` })
    const aside = one.repository.commit({ b: 'b' }, { branch: 'side', message: 'aside' })
    const ids = async (search: string) => {
      const { json } = await find(world.root, `/groups/${group.id}`, { scope: 'commits', search })
      return json.map(({ id, project_id }: { id: string; project_id: number }) => [id, project_id])
    }
    expect(await ids(wanted.slice(0, 9))).toEqual([
      [wanted, two.id],
      [expect.any(String), two.id],
    ])
    expect(await ids(aside)).toEqual([])
  })

  test('commits have the pipeline status if the caller can read pipelines', async ({ world }) => {
    const word = unique('needle')
    const group = await world.group({ visibility: 'public' })
    const projects = [await withWord(world, word, { group }), await withWord(world, word, { group })]
    for (const { id, repository } of projects) {
      const sha = repository.git('rev-parse', 'main')
      expect((await world.root.post(`/projects/${id}/statuses/${sha}`, { state: 'success' })).status).toBe(201)
    }
    const [, closed] = projects as [StoredProject, StoredProject]
    await world.root.put(`/projects/${closed.id}`, { builds_access_level: 'private' })
    const statuses = async (who: Client) => {
      const { json } = await find(who, `/groups/${group.id}`, { scope: 'commits', search: word })
      return Object.fromEntries(
        json.map(({ project_id, status }: { project_id: number; status: string | null }) => [project_id, status]),
      )
    }
    const [open] = projects as [StoredProject]
    expect(await statuses(world.root)).toEqual({ [open.id]: 'success', [closed.id]: 'success' })
    expect(await statuses(await world.user())).toEqual({ [open.id]: 'success', [closed.id]: null })
  })
})
