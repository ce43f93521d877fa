import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { gitIn, type TestFile, type TestRepository } from '../../../git/testing.ts'
import {
  gitCommands,
  hostilePaths,
  hostileRefs,
  openAndClosed,
  type StoredProject,
  storedProject,
} from '../commits/testing.ts'

const enc = encodeURIComponent
const at = (project: StoredProject, path: string, query = 'ref=main') =>
  `/projects/${project.id}/repository/files/${enc(path)}/blame?${query}`
const shape = (ranges: any[]) => ranges.map(({ commit, lines }) => [commit.id, lines])

/** The result of `git blame`, with adjacent lines of one commit merged. */
function blameByGit(repository: TestRepository, path: string, ref = 'main') {
  const output = repository.git('blame', '--line-porcelain', ref, '--', path)
  const ranges: [string, string[]][] = []
  let commit = ''
  for (const line of output.split('\n')) {
    const head = /^([0-9a-f]{40}) \d+ \d+/.exec(line)
    if (head) commit = head[1]!
    if (!line.startsWith('\t')) continue
    if (ranges.at(-1)?.[0] === commit) ranges.at(-1)![1].push(line.slice(1))
    else ranges.push([commit, [line.slice(1)]])
  }
  return ranges
}

/** Pseudo-random numbers that are the same each time. */
function* numbers(seed: number) {
  for (let state = seed; ; state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) yield state / 2_147_483_648
}

describe('GET /projects/:id/repository/files/:file_path/blame', () => {
  test('a file that most parents of a merge lack has the lines that git gives to the merge', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const parents = Array.from({ length: 40 }, (_, index) =>
      repository.commit({ [`of ${index % 25}`]: '1', f: null }, { branch: `b${index}`, parents: [] }),
    )
    const files = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`of ${index}`, '1']))
    repository.commit({ ...files, f: 'a\n' }, { parents })
    const found = await world.root.get(at(project, 'f'))
    expect(shape(found.json)).toEqual(blameByGit(repository, 'f'))
  })

  test.for<[string, Record<string, TestFile>]>([
    ['a folder', { '.mailmap/x': 'x' }],
    ['a submodule', { '.mailmap': { mode: '160000', oid: 'a'.repeat(40) as Oid } }],
    ['a file', { '.mailmap': 'Eve <eve@example.com> <ann@example.com>\n' }],
  ])('a file has its blame where .mailmap of the default branch is %s', async ([, mailmap], { world }) => {
    const project = await storedProject(world)
    const commit = project.repository.commit({ a: 'one\n', ...mailmap })
    const answer = await world.root.get(at(project, 'a'))
    expect([answer.status, shape(answer.json)]).toEqual([200, [[commit, ['one']]]])
    expect(answer.json[0].commit).toMatchObject({ author_name: 'Ann', author_email: 'ann@example.com' })
  })

  test('D1-FILE-BLAME: ranges of lines with their commits, in the order of the file', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ 'dir/a.txt': 'one\ntwo\nthree\n' }, { message: 'First\n\nLong.\n' })
    const second = project.repository.commit(
      { 'dir/a.txt': 'one\nTWO\nthree\n' },
      { author: 'Bob <bob@example.com>', seconds: 1_800_000_000 },
    )
    const answer = await world.root.get(at(project, 'dir/a.txt'))
    expect(answer.status).toBe(200)
    expect(shape(answer.json)).toEqual([
      [first, ['one']],
      [second, ['TWO']],
      [first, ['three']],
    ])
    expect(answer.json[1].commit).toEqual({
      id: second,
      parent_ids: [first],
      message: 'Change',
      authored_date: '2027-01-15T09:00:00.000+01:00',
      author_name: 'Bob',
      author_email: 'bob@example.com',
      committed_date: '2027-01-15T08:00:00.000+00:00',
      committer_name: 'Cid',
      committer_email: 'cid@example.com',
    })
    expect(answer.json[0].commit).toMatchObject({ parent_ids: [], message: 'First\n\nLong.\n' })
    expect(shape((await world.root.get(at(project, 'dir/a.txt', `ref=${first.slice(0, 8)}`))).json)).toEqual([
      [first, ['one', 'two', 'three']],
    ])
  })

  test('blame agrees with git over renames, merges and many edits', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const random = numbers(7)
    const next = (below: number) => Math.floor(random.next().value! * below)
    let lines = Array.from({ length: 60 }, (_, index) => `line ${index}`)
    repository.commit({ 'a.txt': `${lines.join('\n')}\n` })
    for (let round = 0; round < 40; round++) {
      lines = [...lines]
      for (let edit = 0; edit < 3; edit++)
        lines.splice(next(lines.length), next(3), ...Array.from({ length: next(4) }, () => `text ${round} ${next(9)}`))
      repository.commit({ 'a.txt': `${lines.join('\n')}\n` }, { author: `W${round % 5} <w@example.com>` })
    }
    const base = repository.git('rev-parse', 'main')
    repository.git('branch', 'side', 'main')
    repository.commit({ 'a.txt': `${['top', ...lines].join('\n')}\n` })
    const side = repository.commit({ 'a.txt': `${[...lines, 'bottom'].join('\n')}\n` }, { branch: 'side' })
    repository.commit(
      { 'a.txt': `${['top', ...lines, 'bottom'].join('\n')}\n` },
      { parents: [repository.git('rev-parse', 'main') as never, side] },
    )
    repository.commit({ 'a.txt': null, 'moved/b.txt': `${['top', ...lines, 'bottom', 'no newline'].join('\n')}` })
    for (const [path, ref] of [
      ['moved/b.txt', 'main'],
      ['a.txt', base],
      ['a.txt', 'side'],
    ] as const) {
      const expected = blameByGit(repository, path, ref)
      expect(expected.length).toBeGreaterThan(20)
      expect(shape((await world.root.get(at(project, path, `ref=${ref}`))).json), path).toEqual(expected)
    }
  })

  test('blame of binary and empty files, other encodings and other line ends', async ({ world }) => {
    const project = await storedProject(world)
    const commit = project.repository.commit({
      empty: '',
      newline: '\n',
      unended: 'a\nb',
      dos: 'a\r\nb\r\n',
      latin: Buffer.from('caf\xe9\nd\xe9j\xe0 vu\n', 'latin1'),
      binary: Buffer.from([0, 1, 0xff, 0x0a, 0xfe, 0x0a, 0x0a]),
      'ünï "q".txt': 'ok\n',
      '-flag': 'dash\n',
      link: { mode: '120000', content: 'empty' },
    })
    const lines = async (path: string) => {
      const { status, json } = await world.root.get(at(project, path))
      expect(status, path).toBe(200)
      expect(json.every((range: any) => range.commit.id === commit)).toBe(true)
      return json.flatMap((range: any) => range.lines)
    }
    expect(await lines('empty')).toEqual([])
    expect(await lines('newline')).toEqual([''])
    expect(await lines('unended')).toEqual(['a', 'b'])
    expect(await lines('dos')).toEqual(['a\r', 'b\r'])
    expect(await lines('latin')).toEqual(['café', 'déjà vu'])
    expect(await lines('binary')).toEqual(['\u0001', '', ''])
    expect(await lines('ünï "q".txt')).toEqual(['ok'])
    expect(await lines('-flag')).toEqual(['dash'])
    expect(await lines('link')).toEqual(['empty'])
  })

  test('blame of a range of lines, and 400 for an invalid range', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: '1\n2\n3\n4\n5\n' })
    const second = project.repository.commit({ a: '1\n2\nx\n4\n5\n' })
    const range = async (start: unknown, end: unknown) =>
      shape((await world.root.get(at(project, 'a', `ref=main&range[start]=${start}&range[end]=${end}`))).json)
    expect(await range(2, 3)).toEqual([
      [first, ['2']],
      [second, ['x']],
    ])
    expect(await range(5, 100)).toEqual([[first, ['5']]])
    expect(await range(6, 7)).toEqual([])
    for (const [query, error] of [
      ['range[start]=3&range[end]=2', undefined],
      ['range[start]=0&range[end]=2', 'range[start] does not have a valid value'],
      ['range[start]=1', 'range[end] is missing'],
      ['range[end]=1', 'range[start] is missing'],
      ['range[start]=x&range[end]=2', 'range[start] is invalid'],
      ['range=3', 'range is invalid'],
    ] as const)
      expect(await world.root.get(at(project, 'a', `ref=main&${query}`)), query).toMatchObject({
        status: 400,
        json: error ? { error } : { message: 'range[start] must be less than or equal to range[end]' },
      })
  })

  test('HEAD of a blame has the headers of HEAD of the file', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'a.txt': 'one\n' })
    const file = await world.root.head(`/projects/${project.id}/repository/files/a.txt?ref=main`)
    const head = await world.root.head(at(project, 'a.txt'))
    const got = await world.root.get(at(project, 'a.txt'))
    expect(head).toMatchObject({ status: 200, text: '' })
    const metadata = (headers: object) => Object.entries(headers).filter(([name]) => /^x-(service|gitlab)-/.test(name))
    expect(metadata(head.headers)).toHaveLength(20)
    expect(metadata(head.headers)).toEqual(metadata(file.headers))
    expect(metadata(got.headers)).toEqual(metadata(file.headers))
    expect(head.headers['etag']).toBe(got.headers['etag'])
    expect(await world.root.head(at(project, 'nope.txt'))).toMatchObject({ status: 404 })
    expect(
      await world.root.get(at(project, 'a.txt'), { headers: { 'if-none-match': got.headers['etag']! } }),
    ).toMatchObject({ status: 304, text: '' })
  })

  test('D1-AUTH-PUBLIC-READS D1-FILES-SCOPES: blame needs read access to the file', async ({ world }) => {
    const { open, closed, stranger, guest, reporter } = await openAndClosed(world)
    expect(await world.anonymous.get(at(open, 'a'))).toMatchObject({ status: 200 })
    for (const [who, status] of [
      [world.anonymous, 404],
      [stranger, 404],
      [guest, 403],
      [reporter, 200],
      [await world.as(reporter, ['read_repository']), 200],
      [await world.as(reporter, ['read_user']), 403],
    ] as const)
      for (const verb of ['GET', 'HEAD']) expect(await who.send(verb, at(closed, 'a'))).toMatchObject({ status })
  })

  test('404 for a blame of a missing or hostile ref or path', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n' })
    const get = (path: string, query?: string) => world.root.get(at(project, path, query))
    expect(await get('a.txt', '')).toMatchObject({ status: 400, json: { error: 'ref is missing' } })
    expect(await get('a.txt', 'ref=')).toMatchObject({ status: 400, json: { error: 'ref is empty' } })
    expect(await get('a.txt', 'ref=nope')).toMatchObject({ status: 404, json: { message: '404 Commit Not Found' } })
    expect(await get('dir')).toMatchObject({ status: 404, json: { message: '404 File Not Found' } })
    for (const ref of hostileRefs) {
      const { status } = await get('a.txt', `ref=${enc(ref)}`)
      expect([400, 404], JSON.stringify(ref)).toContain(status)
    }
    for (const path of hostilePaths) {
      const { status } = await get(path)
      expect([400, 404, 414], JSON.stringify(path)).toContain(status)
    }
    const empty = await storedProject(world)
    expect(await world.root.get(at(empty, 'a'))).toMatchObject({ status: 404 })
  })

  test('413 for a blame of a file or with a result above the limits', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ large: 'x'.repeat(9 * 1024 * 1024), lines: '\n'.repeat(600_000) })
    for (const path of ['large', 'lines'])
      expect(await world.root.get(at(project, path)), path).toMatchObject({ status: 413 })
    // Two alternating commits, one with a message so long that its repetition at every second line fills the response.
    const message = 'm'.repeat(200_000)
    project.repository.commit({ turns: 'a\n'.repeat(400) }, { message })
    project.repository.commit({ turns: Array.from({ length: 400 }, (_, i) => (i % 2 ? 'a\n' : `${i}\n`)).join('') })
    expect(await world.root.get(at(project, 'turns'))).toMatchObject({ status: 413 })
    expect(
      (await world.root.get(at(project, 'turns', 'ref=main&range[start]=1&range[end]=4'))).json.length,
    ).toBeGreaterThan(1)
  })

  test('blame of 2,000 lines in 100 commits starts one process besides the object reader', async ({ world }) => {
    const project = await storedProject(world)
    const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`)
    for (let round = 0; round < 100; round++) {
      for (let each = 0; each < 20; each++) lines[(each * 100 + round * 7) % 2_000] = `round ${round} ${each}`
      project.repository.commit({ a: `${lines.join('\n')}\n` })
    }
    gitIn(project.repository.gitDir, ['repack', '-adq'])
    let json: any
    const started = await gitCommands(world, async () => {
      json = (await world.root.get(at(project, 'a'))).json
    })
    expect(json.flatMap((range: any) => range.lines)).toEqual(lines)
    expect(started.length).toBeLessThanOrEqual(2)
  })
})
