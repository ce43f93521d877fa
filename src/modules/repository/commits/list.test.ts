import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { gitIn } from '../../../git/testing.ts'
import { gitCommands, history, linesOf, storedProject } from './testing.ts'

const enc = encodeURIComponent
const ids = (records: { id: string }[]) => records.map(({ id }) => id)

describe('GET /projects/:id/repository/commits', () => {
  test('commits whose messages are too large for one page are listed in smaller pages', async ({ world }) => {
    const project = await storedProject(world)
    const message = 'm'.repeat(7 * 1024 * 1024)
    const made = Array.from({ length: 5 }, (_, index) => project.repository.commit({ a: `${index}` }, { message }))
    project.repository.git('repack', '-adq')
    const at = `/projects/${project.id}/repository/commits`
    expect(await world.root.get(at)).toMatchObject({ status: 413 })
    const listed: string[] = []
    for (const page of [1, 2, 3]) listed.push(...ids((await world.root.get(`${at}?per_page=2&page=${page}`)).json))
    expect(listed).toEqual(made.toReversed())
    const contributors = await world.root.get(`/projects/${project.id}/repository/contributors`)
    expect(contributors.json).toMatchObject([{ commits: 5 }])
  })

  test('commits are those of git, page by page', async ({ world }) => {
    for (const seed of ['one', 'two', 'three']) {
      const project = await storedProject(world)
      const { repository } = project
      const made = history(repository, seed, 40)
      repository.git('tag', 'v1', made[10]!)
      const middle = new Date((1_700_000_000 + 60 * 20) * 1000).toISOString()
      const queries: [string, string[]][] = [
        ['', ['main']],
        ['ref_name=side', ['side']],
        ['ref_name=v1', ['v1']],
        [`ref_name=${made[15]}`, [made[15]!]],
        [`ref_name=${made[15]!.slice(0, 10)}`, [made[15]!]],
        ['ref_name=main..side', ['main..side']],
        ['ref_name=side..main', ['side..main']],
        ['ref_name=main...side', ['main...side']],
        ['ref_name=v1..', ['v1..main']],
        ['ref_name=..side', ['main..side']],
        ['ref_name=main~3', ['main~3']],
        ['ref_name=HEAD^', ['main^']],
        ['ref_name=main~6..main~1', ['main~6..main~1']],
        ['ref_name=v1~2..v1^0', ['v1~2..v1']],
        ['ref_name=main~999', ['--max-count=0', 'main']],
        ['all=true', ['--all']],
        ['all=true&ref_name=nope', ['--all']],
        ['all=true&path=dir1/file1', ['--all', '--', 'dir1/file1']],
        ['first_parent=true', ['--first-parent', 'main']],
        ['order=topo', ['--topo-order', 'main']],
        ['order=default', ['main']],
        [`since=${middle}`, ['--since=2023-11-14T22:33:20Z', 'main']],
        [`until=${middle}`, ['--until=2023-11-14T22:33:20Z', 'main']],
        [`since=${middle}&until=${middle}`, ['--since=2023-11-14T22:33:20Z', '--until=2023-11-14T22:33:20Z', 'main']],
        ['path=dir0', ['main', '--', 'dir0']],
        ['path=dir0/', ['main', '--', 'dir0']],
        ['path=dir1/file1&ref_name=side', ['side', '--', 'dir1/file1']],
        ['path=nope', ['main', '--', 'nope']],
      ]
      for (const [query, words] of queries) {
        // The history of one file is that of `git log --follow`, which omits no side of a merge.
        const follows = query.includes('file')
        const expected = linesOf(
          repository.git(...(follows ? ['log', '--follow', '--format=%H'] : ['rev-list']), ...words),
        )
        const answer = await world.root.get(`/projects/${project.id}/repository/commits?per_page=100&${query}`)
        expect(answer.status).toBe(200)
        expect(ids(answer.json), `${seed} ${query}`).toEqual(expected)
        expect(answer.headers['x-total'], query).toBe(String(expected.length))
        const paged: string[] = []
        for (let page = 1; page <= Math.ceil(expected.length / 7) + 1; page++) {
          const part = await world.root.get(
            `/projects/${project.id}/repository/commits?per_page=7&page=${page}&${query}`,
          )
          paged.push(...ids(part.json))
          expect(part.headers['x-total'], `${query} page ${page}`).toBe(String(expected.length))
          expect(part.headers['x-next-page']).toBe(page * 7 < expected.length ? String(page + 1) : '')
        }
        expect(paged, `${seed} ${query}`).toEqual(expected)
      }
    }
  })

  test('D1-COMMITS-ALL: commits of all refs are those of every ref that clients can fetch', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' })
    const made = ['refs/other/x', 'refs/merge-requests/1/head', 'refs/keep-around/x', 'refs/stithy/undo/1'].map(
      (name) => {
        const oid = repository.commit({ a: name }, { parents: [first], branch: 'made' })
        repository.git('update-ref', name, oid)
        repository.git('update-ref', '-d', 'refs/heads/made')
        return oid
      },
    )
    const { json } = await world.root.get(`/projects/${id}/repository/commits?all=true`)
    expect(ids(json).toSorted()).toEqual([first, ...made.slice(0, 2)].toSorted())
  })

  test('D1-COMMITS-REF-NAME D1-COMMITS-ALL: commits of a missing ref are an empty list', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a' })
    const at = `/projects/${project.id}/repository/commits`
    for (const ref of ['nope', 'nope..main', 'main..nope', 'main...nope', 'main..main', '....', 'a..b..c'])
      expect(await world.root.get(`${at}?ref_name=${ref}`), ref).toMatchObject({
        status: 200,
        json: [],
        headers: { 'x-total': '0' },
      })
    expect(await world.root.get(`${at}?page=99999999`)).toMatchObject({
      status: 200,
      json: [],
      headers: { 'x-total': '1' },
    })
  })

  test('D1-COMMITS-SINCE-UNTIL: both ends are included, and any date is accepted', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a' }, { seconds: 1_700_000_000 })
    const count = async (query: string) =>
      (await world.root.get(`/projects/${project.id}/repository/commits?${query}`)).json.length
    expect(await count('since=2023-11-14T22:13:20Z')).toBe(1)
    expect(await count('since=2023-11-14T22:13:21Z')).toBe(0)
    expect(await count('until=2023-11-14T22:13:20Z')).toBe(1)
    expect(await count('until=2023-11-14T22:13:19Z')).toBe(0)
    for (const [query, found] of [
      ['since=1800-01-01', 1],
      ['until=1800-01-01', 0],
      ['since=2150-01-01', 0],
      ['until=2150-01-01', 1],
      ['until=9999-12-31', 1],
    ] as const)
      expect(await count(query), query).toBe(found)
    for (const name of ['since', 'until'])
      expect(await world.root.get(`/projects/${project.id}/repository/commits?${name}=yesterday`)).toMatchObject({
        status: 400,
        json: { error: `${name} is invalid` },
      })
  })

  test('the total of a topological list since a time is the number of its commits, where clocks are skewed', async ({
    world,
  }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' }, { seconds: 1_700_000_100 })
    repository.commit({ a: '2' }, { seconds: 1_600_000_000 })
    const late = repository.commit({ a: '3' }, { seconds: 1_700_000_200 })
    const merge = repository.commit({ a: '4' }, { parents: [late, first], seconds: 1_700_000_300 })
    const listed = linesOf(repository.git('rev-list', '--topo-order', '--max-age=1700000000', 'main'))
    expect(listed).toEqual([merge, late])
    for (const query of ['', '&all=true']) {
      const { json, headers } = await world.root.get(
        `/projects/${id}/repository/commits?order=topo&since=2023-11-14T22:13:20Z&per_page=1${query}`,
      )
      expect(ids(json)).toEqual([merge])
      expect(headers).toMatchObject({ 'x-total': '2', 'x-total-pages': '2' })
    }
  })

  test('a topological list keeps its order when a job writes the commit-graph, so its pages fit together', async ({
    world,
  }) => {
    const { id, repository } = await storedProject(world)
    const made = history(repository, 'two', 40)
    for (const at of [12, 20, 28]) repository.git('branch', `older-${at}`, made[at]!)
    const time = '2023-11-14T22:43:20Z'
    const queries = [`until=${time}`, `all=true&until=${time}`, 'all=true&first_parent=true', `all=true&since=${time}`]
    const lists = async (size: number) => {
      const at = `/projects/${id}/repository/commits?order=topo&per_page=${size}`
      return Promise.all(queries.map(async (query) => ids((await world.root.get(`${at}&${query}`)).json)))
    }
    const before = await lists(100)
    repository.git('commit-graph', 'write', '--reachable')
    expect(await lists(99)).toEqual(before)
  })

  test('D1-COMMITS-PATH: a file is followed through renames, a directory is not', async ({ world }) => {
    const project = await storedProject(world)
    const content = 'line\n'.repeat(20)
    const made = [
      project.repository.commit({ 'old.txt': content }),
      project.repository.commit({ 'old.txt': `${content}more\n` }),
      project.repository.commit({ 'old.txt': null, 'new/name.txt': `${content}more\n` }),
      project.repository.commit({ 'new/name.txt': content }),
    ].reverse()
    const at = `/projects/${project.id}/repository/commits`
    expect(ids((await world.root.get(`${at}?path=new/name.txt`)).json)).toEqual(made)
    const second = await world.root.get(`${at}?path=new/name.txt&per_page=3&page=1`)
    expect(second).toMatchObject({ headers: { 'x-total': '4', 'x-next-page': '2' } })
    expect(ids((await world.root.get(`${at}?path=new/name.txt&per_page=3&page=2`)).json)).toEqual(made.slice(3))
    expect(ids((await world.root.get(`${at}?path=new`)).json)).toEqual(made.slice(0, 2))
    expect(ids((await world.root.get(`${at}?path=old.txt`)).json)).toEqual(made.slice(1))
  })

  test('a file that was renamed later is followed to the commits before a time, in every order', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const content = 'line\n'.repeat(20)
    const first = repository.commit({ other: '1' }, { seconds: 1_700_000_000 })
    const made = repository.commit({ old: content }, { seconds: 1_700_000_100 })
    const changed = repository.commit({ old: `${content}more\n` }, { seconds: 1_700_000_200 })
    const late = repository.commit({ old: `${content}even more\n` }, { seconds: 1_700_000_300 })
    repository.commit({ old: null, new: `${content}even more\n` }, { seconds: 1_700_000_400 })
    const at = `/projects/${id}/repository/commits?path=new`
    for (const query of [
      '',
      'order=topo',
      'first_parent=true',
      'order=topo&first_parent=true',
      `ref_name=${first}..main`,
    ]) {
      const before = `${at}&${query}&until=2023-11-14T22:16:40Z`
      const found = await world.root.get(before)
      expect(ids(found.json), query).toEqual([changed, made])
      expect(found.headers, query).toMatchObject({ 'x-total': '2' })
      expect(ids((await world.root.get(`${before}&per_page=1&page=2`)).json), query).toEqual([made])
      const period = `${at}&${query}&since=2023-11-14T22:16:40Z&until=2023-11-14T22:18:20Z`
      expect(ids((await world.root.get(period)).json), query).toEqual([late, changed])
    }
  })

  test('a file that was renamed on one of two branches is followed in both orders of the branches', async ({
    world,
  }) => {
    const { id, repository } = await storedProject(world)
    const content = 'line\n'.repeat(20)
    const first = repository.commit({ other: '1' })
    const made = repository.commit({ old: content }, { parents: [first], branch: 'side' })
    const renamed = repository.commit({ old: null, new: content }, { parents: [made], branch: 'side' })
    repository.commit({ other: '2' }, { parents: [first] })
    for (const range of ['main...side', 'side...main', 'main..side']) {
      const found = await world.root.get(`/projects/${id}/repository/commits?path=new&ref_name=${range}`)
      expect(ids(found.json), range).toEqual([renamed, made])
    }
  })

  test('D1-COMMITS-FIRST-PARENT D1-COMMITS-ORDER: 400 for invalid values', async ({ world }) => {
    const project = await storedProject(world)
    const at = `/projects/${project.id}/repository/commits`
    expect(await world.root.get(`${at}?order=date`)).toMatchObject({
      status: 400,
      json: { error: 'order does not have a valid value' },
    })
    expect(await world.root.get(`${at}?first_parent=maybe`)).toMatchObject({
      status: 400,
      json: { error: 'first_parent is invalid' },
    })
    expect(await world.root.get(`${at}?pagination=keyset`)).toMatchObject({ status: 405 })
  })

  test('a repeated request for commits starts no git process', async ({ world }) => {
    const project = await storedProject(world)
    history(project.repository, 'costs', 30)
    const at = `/projects/${project.id}/repository`
    const forms = [
      'commits?per_page=5',
      'commits?per_page=5&page=2',
      'commits/main',
      'commits/main/refs',
      'branches',
      'branches?sort=updated_desc&search=a',
      'tree',
      'tree?recursive=true',
      `files/${enc('dir0/file0')}?ref=main`,
      `files/${enc('dir0/file0')}/raw?ref=main`,
      'contributors',
    ]
    for (const form of forms) expect(await world.root.get(`${at}/${form}`), form).toMatchObject({ status: 200 })
    const again = async () => {
      for (const form of forms) await world.root.get(`${at}/${form}`)
    }
    expect(await gitCommands(world, again)).toEqual([])
    // Verifies that commands are recorded: only git knows this order.
    expect(await gitCommands(world, () => world.root.get(`${at}/commits?order=topo`))).not.toEqual([])
  })

  test('no page of commits has a total above 10,000, not even the last one', async ({ world }) => {
    const project = await storedProject(world)
    const line = Array.from(
      { length: 10_001 },
      (_, at) => `commit refs/heads/main\ncommitter C <c@e> ${at} +0000\ndata 0\n`,
    )
    gitIn(project.repository.gitDir, ['fast-import', '--quiet'], line.join(''))
    const at = `/projects/${project.id}/repository/commits?per_page=100`
    const last = await world.root.get(`${at}&page=101`)
    expect(last.json).toHaveLength(1)
    expect(last.headers['x-next-page']).toBe('')
    expect(last.headers['x-total']).toBeUndefined()
    expect(last.headers['link']).not.toContain('rel="last"')
  })

  test('D1-COMMITS-WITH-STATS: with_stats adds the changed lines of each commit', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: '1\n2\n3\n' })
    project.repository.commit({ a: '1\n3\n4\n5\n', bin: Buffer.from([0, 1]) })
    const at = `/projects/${project.id}/repository/commits`
    const { json } = await world.root.get(`${at}?with_stats=true`)
    expect(json.map((each: any) => each.stats)).toEqual([
      { additions: 2, deletions: 1, total: 3 },
      { additions: 3, deletions: 0, total: 3 },
    ])
    expect((await world.root.get(at)).json[0]).not.toHaveProperty('stats')
  })
})
