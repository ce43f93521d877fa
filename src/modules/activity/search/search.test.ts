import { describe, expect } from 'vitest'
import { endMemberships } from '../../../../test/tables/access.ts'
import { type Client, test, unique, World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'

const find = (who: Client, within: string, query: Record<string, string>) =>
  who.get(`${within}/search?${new URLSearchParams(query)}`)

const inProject = (who: Client, { id }: { id: number }, search: string, more: Record<string, string> = {}) =>
  find(who, `/projects/${id}`, { scope: 'blobs', search, ...more })

const places = async (who: Client, project: { id: number }, search: string, more: Record<string, string> = {}) => {
  const { status, json } = await inProject(who, project, search, more)
  expect(status).toBe(200)
  return json.map(({ path, startline }: { path: string; startline: number }) => `${path}:${startline}`)
}

async function library(world: World): Promise<StoredProject> {
  const project = await storedProject(world)
  project.repository.commit(
    {
      'README.md': 'One\nTwo\nThree\nA needle\nFive\nSix\nSeven\nEight\nNine\nneedle again\n',
      'src/deep/needle.test.ts': 'const needle = 1\n',
      'src/[odd] -e name.TS': '-needle --all *.* a|b $(x)\n',
      'src/none.txt': 'hay\n',
      'data.bin': 'needle\0needle\n',
    },
    { message: 'Add a NEEDLE\n\nbody text' },
  )
  return project
}

describe('search requests', () => {
  test('a search needs a signed-in user, a valid scope and a text', async ({ world }) => {
    const [project, group] = [await world.project({ visibility: 'public' }), await world.group()]
    const paths = [
      '',
      `/groups/${group.id}`,
      `/groups/${group.id}/-`,
      `/projects/${project.id}`,
      `/projects/${project.id}/-`,
    ]
    for (const path of paths) {
      const errors = async (query: Record<string, string>) => (await find(world.root, path, query)).json.error
      expect((await find(world.anonymous, path, { scope: 'users', search: 'x' })).status).toBe(401)
      expect(await errors({ search: 'x' })).toBe('scope is missing')
      expect(await errors({ scope: 'users' })).toBe('search is missing')
      expect(await errors({ scope: 'users', search: ' ' })).toBe('search is empty')
      // Scopes that cannot be searched yet are refused, not empty.
      for (const scope of ['epics', 'packages', '__proto__'])
        expect(await errors({ scope, search: 'x' })).toBe('scope does not have a valid value')
      expect((await find(world.root, path, { scope: 'users', search: unique('missing') })).json).toEqual([])
    }
    expect((await find(world.root, `/projects/${project.id}`, { scope: 'projects', search: 'x' })).status).toBe(400)
  })

  test('429 after search_rate_limit searches per minute', async () => {
    await using world = await World.start()
    await world.settings({ search_rate_limit: 2 })
    const ann = await world.user()
    const status = async (who: Client) => (await find(who, '', { scope: 'users', search: 'xxx' })).status
    expect([await status(ann), await status(ann)]).toEqual([200, 200])
    expect(await find(ann, '', { scope: 'users', search: 'xxx' })).toMatchObject({
      status: 429,
      json: { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    })
    expect(await status(await world.user())).toBe(200)
  })
})

describe('scope projects', () => {
  test('project search finds what the caller can see, in a group with its subgroups', async ({ world }) => {
    const ann = await world.user()
    const word = unique('findable')
    const group = await world.group({ visibility: 'public' })
    const below = await world.group({ visibility: 'public', parent: group })
    const make = (more: object) => world.project({ description: `about ${word}`, ...more })
    const secret = await make({ group: below })
    const inside = await make({ group: below, visibility: 'public' })
    const outside = await make({ visibility: 'public' })
    const ids = async (who: Client, path: string) =>
      (await find(who, path, { scope: 'projects', search: word })).json.map(({ id }: { id: number }) => id)
    expect(await ids(ann, '')).toEqual([outside.id, inside.id])
    expect(await ids(ann, `/groups/${group.id}`)).toEqual([inside.id])
    expect(await ids(world.root, `/groups/${group.id}/-`)).toEqual([inside.id, secret.id])
  })
})

describe('scope users', () => {
  test('user search finds by names and the whole e-mail, exact matches first', async ({ world }) => {
    const word = unique('person')
    const ann = await world.user({ name: `A ${word}` })
    const exact = await world.user({ name: word })
    const names = async (search: string) =>
      (await find(ann, '', { scope: 'users', search })).json.map(({ id }: { id: number }) => id)
    expect(await names(word)).toEqual([exact.id, ann.id])
    expect(await names(`${ann.username}@example.com`)).toEqual([ann.id])
    expect(await names(`${ann.username}@example`)).toEqual([])
  })

  test('user search in a group or project finds the members that the caller can see', async ({ world }) => {
    const word = unique('member')
    const person = () => world.user({ name: `${word} ${unique('x')}` })
    const [above, here, hidden, direct] = [await person(), await person(), await person(), await person()]
    await world.group({ visibility: 'public', members: [[await person(), 'guest']] })
    const top = await world.group({ visibility: 'public', members: [[above, 'reporter']] })
    const group = await world.group({ visibility: 'public', parent: top, members: [[here, 'guest']] })
    await world.group({ parent: group, members: [[hidden, 'guest']] })
    const project = await world.project({ group, visibility: 'public', members: [[direct, 'guest']] })
    const ids = async (who: Client, path: string) =>
      (await find(who, path, { scope: 'users', search: word })).json.map(({ id }: { id: number }) => id).sort()
    const sorted = (...who: Client[]) => who.map(({ id }) => id).sort()
    expect(await ids(await world.user(), `/groups/${group.id}`)).toEqual(sorted(above, here))
    expect(await ids(world.root, `/groups/${group.id}`)).toEqual(sorted(above, here, hidden))
    expect(await ids(await world.user(), `/projects/${project.id}`)).toEqual(sorted(above, here, direct))
    await endMemberships(world, here.id)
    expect(await ids(await world.user(), `/groups/${group.id}`)).toEqual(sorted(above))
  })
})

describe('scope blobs', () => {
  test('blob search finds lines in any case, with context and position', async ({ world }) => {
    const project = await library(world)
    const { json } = await inProject(world.root, project, 'NEEDLE', { per_page: '2' })
    expect(json).toEqual([
      {
        basename: 'README',
        data: 'Two\nThree\nA needle\nFive\nSix\n',
        path: 'README.md',
        filename: 'README.md',
        id: null,
        ref: 'main',
        startline: 2,
        project_id: project.id,
      },
      expect.objectContaining({ startline: 8, data: 'Eight\nNine\nneedle again\n' }),
    ])
    const paged = await inProject(world.root, project, 'NEEDLE', { per_page: '2', page: '2' })
    expect(paged.headers).toMatchObject({ 'x-total': '4', 'x-total-pages': '2', 'x-prev-page': '1' })
    expect(paged.json.map(({ path }: { path: string }) => path)).toEqual([
      'src/[odd] -e name.TS',
      'src/deep/needle.test.ts',
    ])
  })

  test.for([
    ['needle filename:needle.test.ts', ['src/deep/needle.test.ts:1']],
    ['filename:readme.* needle', ['README.md:2', 'README.md:8']],
    ['needle extension:ts', ['src/[odd] -e name.TS:1', 'src/deep/needle.test.ts:1']],
    ['needle extension:.md', ['README.md:2', 'README.md:8']],
    ['needle path:SRC/ path:deep', ['src/deep/needle.test.ts:1']],
    ['needle path:[odd]', ['src/[odd] -e name.TS:1']],
    ['needle path:[o]dd', []],
    ['needle path:s*c/d**p', ['src/deep/needle.test.ts:1']],
    ['needle path:../', []],
    ['needle path::(top)', []],
    ['-needle', ['src/[odd] -e name.TS:1']],
    ['--all', ['src/[odd] -e name.TS:1']],
    ['a|b', ['src/[odd] -e name.TS:1']],
    ['needle|hay', []],
    ['n.edle', []],
    ['$(x)', ['src/[odd] -e name.TS:1']],
    ['again needle', []],
    ['nothing like this', []],
    ['filename:needle.test.ts', ['src/deep/needle.test.ts:1']],
    ['extension:md path:readme', ['README.md:1']],
    ['filename:no-such-file', []],
  ] as const)('the blob search %j finds %j', async ([search, found], { world }) => {
    expect(await places(world.root, await shared(world), search)).toEqual(found)
  })

  test('400 for a search with more than 20 filters of files', async ({ world }) => {
    const project = await shared(world)
    const search = async (filters: number) =>
      world.root.get(
        `/projects/${project.id}/search?scope=blobs&search=${encodeURIComponent(`needle${' path:src'.repeat(filters)}`)}`,
      )
    expect((await search(20)).json).toHaveLength(2)
    expect(await search(21)).toMatchObject({
      status: 400,
      json: { message: 'search has too many filters of files (at most 20)' },
    })
  })

  test('blob search uses the given branch, tag or commit', async ({ world }) => {
    const project = await library(world)
    const first = project.repository.git('rev-parse', 'main').trim()
    project.repository.commit({ 'later.txt': 'needle of later\n' })
    expect(await places(world.root, project, 'of later')).toEqual(['later.txt:1'])
    expect(await places(world.root, project, 'of later', { ref: first })).toEqual([])
    const { json } = await inProject(world.root, project, 'hay', { ref: first })
    expect(json).toMatchObject([{ path: 'src/none.txt', ref: first, basename: 'src/none' }])
    for (const ref of ['no-such-branch', '--all', 'main:src', '-'])
      expect(await inProject(world.root, project, 'hay', { ref })).toMatchObject({
        status: 404,
        json: { message: '404 Commit Not Found' },
      })
  })

  test('blob search is empty in an empty repository, and 400 for invalid texts', async ({ world }) => {
    const project = await world.project()
    expect(await places(world.root, project, 'hay')).toEqual([])
    expect(await inProject(world.root, project, 'one\ntwo')).toMatchObject({
      status: 400,
      json: { message: 'search must be one line' },
    })
    expect((await inProject(world.root, project, ' ')).status).toBe(400)
    expect((await inProject(world.root, project, 'x'.repeat(5000))).status).toBe(400)
  })

  test('blob search ends at a thousand results, without a total', async ({ world }) => {
    const project = await storedProject(world)
    const line = `match\n${'-\n'.repeat(6)}`
    project.repository.commit({ 'many.txt': line.repeat(1200), 'exact.txt': line.replaceAll('match', 'other') })
    const many = await inProject(world.root, project, 'match', { per_page: '100', page: '10' })
    expect(many.json).toHaveLength(100)
    expect(many.headers['x-total']).toBeUndefined()
    expect((await inProject(world.root, project, 'match', { per_page: '100', page: '11' })).json).toEqual([])
    expect((await inProject(world.root, project, 'other')).headers['x-total']).toBe('1')
  })

  test('blob search decodes text that is not UTF-8', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'latin.txt': Buffer.from('caf\xe9 needle\n', 'latin1') })
    expect((await inProject(world.root, project, 'needle')).json).toMatchObject([{ data: 'café needle\n' }])
  })

  test('403 for blob search without access to code', async ({ world }) => {
    const [guest, reporter] = [await world.user(), await world.user()]
    const project = await storedProject(world, {
      visibility: 'private',
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
    })
    project.repository.commit({ 'a.txt': 'hay\n' })
    for (const scope of ['blobs', 'commits']) {
      const status = async (who: Client) =>
        (await find(who, `/projects/${project.id}`, { scope, search: 'hay' })).status
      expect([await status(reporter), await status(guest), await status(await world.user())]).toEqual([200, 403, 404])
    }
    expect((await find(guest, `/projects/${project.id}`, { scope: 'users', search: 'hay' })).status).toBe(200)
  })
})

describe('scope commits', () => {
  test('commit search finds by message, in any case, and by prefix of the id', async ({ world }) => {
    const project = await library(world)
    const first = project.repository.git('rev-parse', 'main').trim()
    const second = project.repository.commit({ 'b.txt': 'b' }, { message: 'Other (a+)+ [x]' })
    const ids = async (search: string, more: Record<string, string> = {}) => {
      const { status, json } = await find(world.root, `/projects/${project.id}`, { scope: 'commits', search, ...more })
      expect(status).toBe(200)
      return json.map(({ id }: { id: string }) => id)
    }
    expect(await ids('needle')).toEqual([first])
    expect(await ids('BODY')).toEqual([first])
    expect(await ids('(A+)+ [')).toEqual([second])
    expect(await ids('(a|b)')).toEqual([])
    expect(await ids('--all')).toEqual([])
    expect(await ids(first.slice(0, 8))).toEqual([first])
    expect(await ids('other', { ref: first })).toEqual([])
    const { json } = await find(world.root, `/projects/${project.id}`, { scope: 'commits', search: 'needle' })
    expect(json).toMatchObject([{ title: 'Add a NEEDLE', project_id: project.id, short_id: first.slice(0, 8) }])
  })
})

let made: Promise<StoredProject> | undefined
const shared = (world: World) => (made ??= library(world))
