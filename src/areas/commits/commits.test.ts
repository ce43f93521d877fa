import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { test } from '../../../test/world.ts'
import type { Oid } from '../../git/oid.ts'
import { gitIn, type TestRepository } from '../../git/testing.ts'
import { storedProject } from './testing.ts'

const enc = encodeURIComponent
const pick = (words: string, below: number) => createHash('sha256').update(words).digest().readUInt32BE() % below
const lines = (text: string) => text.split('\n').filter((line) => line !== '')
const ids = (records: { id: string }[]) => records.map(({ id }) => id)

/** Content that git takes for no rename of any other. */
const unlike = (words: string) =>
  [...Array(5).keys()].map((line) => createHash('sha256').update(`${words} ${line}`).digest('hex')).join('\n')

/** A history with merges, the same each time: commits one minute apart, two lines that meet now and then. */
function history(repository: TestRepository, seed: string, size: number): Oid[] {
  const made: Oid[] = []
  const tips: Record<string, Oid | undefined> = {}
  for (let at = 0; at < size; at++) {
    const branch = ['main', 'side'][pick(`${seed} branch ${at}`, 2)]!
    const other = branch === 'main' ? 'side' : 'main'
    const merges = tips[branch] && tips[other] && pick(`${seed} merge ${at}`, 4) === 0
    const parents = merges
      ? [tips[branch]!, tips[other]!]
      : tips[branch]
        ? [tips[branch]!]
        : made.length > 0
          ? [made[pick(`${seed} from ${at}`, made.length)]!]
          : []
    const file = `dir${pick(`${seed} dir ${at}`, 2)}/file${pick(`${seed} file ${at}`, 3)}`
    tips[branch] = repository.commit(
      { [file]: unlike(`${seed} ${at}`) },
      { branch, parents, message: `Change ${at}\n`, seconds: 1_700_000_000 + 60 * at },
    )
    made.push(tips[branch])
  }
  return made
}

describe('GET /projects/:id/repository/commits', () => {
  test('lists what git lists, page by page', async ({ world }) => {
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
        ['all=true', ['--branches', '--tags']],
        ['all=true&ref_name=nope', ['--branches', '--tags']],
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
        // The history of one file is what git follows, which leaves out no side of a merge.
        const follows = query.includes('file')
        const expected = lines(
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
  }, 120_000)

  test('D1-COMMITS-REF-NAME D1-COMMITS-ALL: what cannot be found is an empty list', async ({ world }) => {
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

  test('D1-COMMITS-SINCE-UNTIL: both ends are included, and no date is too far away', async ({ world }) => {
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

  test('D1-COMMITS-PATH: a file is followed through its renames, a directory is not', async ({ world }) => {
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

  test('D1-COMMITS-FIRST-PARENT D1-COMMITS-ORDER: other values are refused', async ({ world }) => {
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

  test('what was asked before takes no process, but for the readers that stay', async ({ world }) => {
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
    const ctx = await world.app.open(null)
    for (const form of forms) expect(await world.root.get(`${at}/${form}`), form).toMatchObject({ status: 200 })
    const started: string[] = []
    const { runner } = ctx.git
    const start = runner.start
    runner.start = (words, options) => {
      started.push(words.join(' '))
      return start.call(runner, words, options)
    }
    try {
      for (const form of forms) await world.root.get(`${at}/${form}`)
      expect(started).toEqual([])
      // Seen at all: what only git can tell.
      await world.root.get(`${at}/commits?order=topo`)
      expect(started.length).toBeGreaterThan(0)
    } finally {
      runner.start = start
    }
  })

  test('D1-COMMITS-WITH-STATS: the lines of each commit', async ({ world }) => {
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

describe('GET /projects/:id/repository/commits/:sha', () => {
  test('D1-COMMIT-SHA-NAME D1-COMMIT-DETAIL D1-COMMIT-STATS-DEFAULT: by hash, branch and tag', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: '1\n' })
    const sha = project.repository.commit(
      { a: '1\n2\n' },
      {
        branch: 'feature/x',
        parents: [first],
        message: 'Title\n\nBody\n',
        author: 'Änn <ann@example.com>',
        seconds: 1_393_488_896,
      },
    )
    project.repository.git('tag', '-a', '-m', 'tag', 'v1', sha)
    const expected = {
      id: sha,
      short_id: sha.slice(0, 8),
      created_at: '2014-02-27T08:14:56.000+00:00',
      parent_ids: [first],
      title: 'Title',
      message: 'Title\n\nBody\n',
      author_name: 'Änn',
      author_email: 'ann@example.com',
      authored_date: '2014-02-27T09:14:56.000+01:00',
      committer_name: 'Cid',
      committer_email: 'cid@example.com',
      committed_date: '2014-02-27T08:14:56.000+00:00',
      web_url: expect.stringContaining(`/${project.full_path}/-/commit/${sha}`),
      stats: { additions: 1, deletions: 0, total: 1 },
      project_id: project.id,
      status: null,
      last_pipeline: null,
    }
    for (const name of [sha, sha.slice(0, 7), sha.toUpperCase(), 'feature/x', 'v1', 'refs/heads/feature/x'])
      expect(await world.anonymous.get(`/projects/${project.id}/repository/commits/${enc(name)}`), name).toMatchObject({
        status: 200,
        json: expected,
      })
    expect(
      (await world.root.get(`/projects/${project.id}/repository/commits/${sha}?stats=false`)).json,
    ).not.toHaveProperty('stats')
    expect(await world.root.get(`/projects/${project.id}/repository/commits/nope`)).toMatchObject({
      status: 404,
      json: { message: '404 Commit Not Found' },
    })
  })

  test('D1-COMMIT-DATES-ABSENT: whole commits have their dates in every answer', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const first = repository.commit({ a: '1' })
    const second = repository.commit({ b: '2' })
    repository.git('branch', 'stable', first)
    repository.git('tag', 'v1', first)
    const at = `/projects/${project.id}/repository`
    const get = async (path: string) => (await world.root.get(`${at}/${path}`)).json
    const post = async (path: string, body: object) => (await world.root.post(`${at}/${path}`, body)).json
    const compared = await get(`compare?from=${first}&to=${second}`)
    const answers = {
      list: (await get('commits'))[0],
      one: await get(`commits/${second}`),
      made: await post('commits', {
        branch: 'main',
        commit_message: 'x',
        actions: [{ action: 'create', file_path: 'c', content: 'c' }],
      }),
      picked: await post(`commits/${second}/cherry_pick`, { branch: 'stable' }),
      reverted: await post(`commits/${second}/revert`, { branch: 'main' }),
      base: await get(`merge_base?refs[]=${first}&refs[]=${second}`),
      branch: (await get('branches/main')).commit,
      tag: (await get('tags/v1')).commit,
      compared: compared.commit,
      between: compared.commits[0],
    }
    for (const [name, commit] of Object.entries(answers))
      expect(commit, name).toMatchObject({
        authored_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        committed_date: commit.created_at,
      })
  })

  test('text of any encoding is shown as text, and a commit without a message has a title', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const tree = gitIn(repository.gitDir, ['mktree'])
    const stored = async (author: string, message: string, header = '') => {
      const text = `tree ${tree}\nauthor ${author} <a@b> 1700000000 -0330\ncommitter C <c@d> 1700000000 +0000\n${header}\n${message}`
      const sha = gitIn(
        repository.gitDir,
        ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'],
        Buffer.from(text, 'latin1'),
      )
      return (await world.root.get(`/projects/${project.id}/repository/commits/${sha}`)).json
    }
    expect(await stored('J\xfcrgen', 'Gr\xfc\xdfe aus K\xf6ln')).toMatchObject({
      author_name: 'Jürgen',
      title: 'Grüße aus Köln',
      authored_date: '2023-11-14T18:43:20.000-03:30',
    })
    expect(await stored('A', '\xc8\xd2', 'encoding windows-1251\n')).toMatchObject({ title: 'ИТ' })
    expect(await stored('A', Buffer.from('日本').toString('latin1'))).toMatchObject({ title: '日本' })
    expect(await stored('A', 'a\x00b \xff\xfe\x01')).toMatchObject({ title: 'ab \u0001' })
    expect(await stored('A', '')).toMatchObject({ title: '--no commit message', message: '' })
    expect(await stored('A', 'one\r\ntwo')).toMatchObject({ title: 'one', message: 'one\r\ntwo' })
  })
})

describe('GET /projects/:id/repository/commits/:sha/diff', () => {
  test('D1-COMMIT-SHA-NAME: shows what git shows, whatever the history', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const made = history(repository, 'diffs', 25)
    for (const sha of [...made, 'main']) {
      const { json } = await world.root.get(`/projects/${project.id}/repository/commits/${sha}/diff?per_page=100`)
      const parents = repository.git('rev-parse', `${sha}^@`)
      const base = parents === '' ? '4b825dc642cb6eb9a060e54bf8d69288fbee4904' : lines(parents)[0]!
      const sections = `\n${repository.git('diff-tree', '-r', '-p', '-M', base, sha)}\n`.split('\ndiff --git ').slice(1)
      expect(json.map((entry: any) => entry.diff.trimEnd())).toEqual(
        sections.map((section) => /(^@@ .*)/ms.exec(section)?.[1]?.trimEnd() ?? ''),
      )
    }
  })

  test('kinds of changes', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const long = 'line\n'.repeat(30)
    repository.commit({
      gone: 'g\n',
      edited: '1\n2',
      old: long,
      mode: 'm',
      kind: 'k\n',
      bin: Buffer.from([0, 1]),
      'sub/x': 'x',
    })
    const sha = repository.commit({
      gone: null,
      edited: '1\n3',
      old: null,
      new: long,
      mode: { mode: '100755', content: 'm' },
      kind: { mode: '120000', content: 'mode' },
      bin: Buffer.from([0, 2]),
      added: 'diff --git a/x b/x\n@@ no hunk\nBinary files\n',
      latin: Buffer.from('Gr\xfc\xdfe\n', 'latin1'),
      empty: '',
      sub2: { mode: '160000', oid: 'c'.repeat(40) as Oid },
      huge: 'x'.repeat(200_000),
      many: 'many\n'.repeat(30_000),
    })
    const { json, headers } = await world.anonymous.get(`/projects/${project.id}/repository/commits/${sha}/diff`)
    const entry = (path: string, more: object) => ({
      diff: '',
      old_path: path,
      new_path: path,
      a_mode: '100644',
      b_mode: '100644',
      new_file: false,
      renamed_file: false,
      deleted_file: false,
      ...more,
    })
    const added = { a_mode: '0', new_file: true }
    const deleted = { b_mode: '0', deleted_file: true }
    expect(json).toEqual([
      entry('added', { ...added, diff: '@@ -0,0 +1,3 @@\n+diff --git a/x b/x\n+@@ no hunk\n+Binary files\n' }),
      entry('bin', { diff: 'Binary files a/bin and b/bin differ\n' }),
      entry('edited', {
        diff: '@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+3\n\\ No newline at end of file\n',
      }),
      entry('empty', added),
      entry('gone', { ...deleted, diff: '@@ -1 +0,0 @@\n-g\n' }),
      entry('huge', added),
      entry('kind', { ...deleted, diff: '@@ -1 +0,0 @@\n-k\n' }),
      entry('kind', { ...added, b_mode: '120000', diff: '@@ -0,0 +1 @@\n+mode\n\\ No newline at end of file\n' }),
      entry('latin', { ...added, diff: '@@ -0,0 +1 @@\n+Grüße\n' }),
      entry('many', added),
      entry('mode', { b_mode: '100755' }),
      entry('new', { old_path: 'old', renamed_file: true }),
      entry('sub2', { ...added, b_mode: '160000', diff: `@@ -0,0 +1 @@\n+Subproject commit ${'c'.repeat(40)}\n` }),
    ])
    expect(headers['x-total']).toBe('13')
    expect(await world.root.get(`/projects/${project.id}/repository/commits/nope/diff`)).toMatchObject({
      status: 404,
      json: { message: '404 Commit Not Found' },
    })
  })

  test('D1-DIFF-LIMITS: a thousand files, and fifty thousand lines', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const files = repository.commit(Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`f${at}`, `${at}\n`])))
    const linesOf = repository.commit(
      Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`g${at}`, `${at}\n`.repeat(9000)])),
    )
    const total = async (sha: string) =>
      (await world.root.get(`/projects/${project.id}/repository/commits/${sha}/diff?per_page=1`)).headers['x-total']
    expect(await total(files)).toBe('1000')
    expect(await total(linesOf)).toBe('5')
  })
})

describe('GET /projects/:id/repository/commits/:sha/refs', () => {
  test('D1-REFS-CONTAINING: branches first, then tags', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: '1' })
    const second = project.repository.commit({ a: '2' })
    project.repository.git('branch', 'old', first)
    project.repository.git('tag', 'v1', first)
    project.repository.git('tag', '-a', '-m', 'two', 'v2', second)
    const of = (sha: string, query = '') =>
      world.root.get(`/projects/${project.id}/repository/commits/${sha}/refs${query}`)
    expect((await of(first)).json).toEqual([
      { type: 'branch', name: 'main' },
      { type: 'branch', name: 'old' },
      { type: 'tag', name: 'v1' },
      { type: 'tag', name: 'v2' },
    ])
    expect((await of(second)).json).toEqual([
      { type: 'branch', name: 'main' },
      { type: 'tag', name: 'v2' },
    ])
    expect((await of(first, '?type=tag')).json).toEqual([
      { type: 'tag', name: 'v1' },
      { type: 'tag', name: 'v2' },
    ])
    expect((await of(first, '?type=all&per_page=2&page=2')).json).toEqual([
      { type: 'tag', name: 'v1' },
      { type: 'tag', name: 'v2' },
    ])
    expect(await of(first, '?type=branch&per_page=1')).toMatchObject({
      json: [{ name: 'main' }],
      headers: { 'x-total': '2' },
    })
    expect(await of(first, '?type=note')).toMatchObject({
      status: 400,
      json: { error: 'type does not have a valid value' },
    })
    expect(await of('nope')).toMatchObject({ status: 404, json: { message: '404 Commit Not Found' } })
  })
})

describe('GET /projects/:id/repository/merge_base', () => {
  test('D1-MERGE-BASE: what git says', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const made = history(repository, 'bases', 30)
    const of = (...refs: string[]) =>
      world.root.get(
        `/projects/${project.id}/repository/merge_base?${refs.map((ref) => `refs[]=${enc(ref)}`).join('&')}`,
      )
    for (let run = 0; run < 15; run++) {
      const refs = Array.from({ length: 2 + (run % 2) }, (_, at) => made[pick(`base ${run} ${at}`, made.length)]!)
      expect((await of(...refs)).json.id, refs.join(' ')).toBe(lines(repository.git('merge-base', ...refs))[0])
    }
    expect(await of('main', 'side')).toMatchObject({
      status: 200,
      json: { id: repository.git('merge-base', 'main', 'side') },
    })
    repository.commit({ alone: '' }, { branch: 'orphan', parents: [] })
    expect(await of('main', 'orphan')).toMatchObject({ status: 404, json: { message: '404 Merge Base Not Found' } })
    expect(await of('main')).toMatchObject({ status: 400, json: { message: 'Provide at least 2 refs' } })
    expect(await of('main', 'x')).toMatchObject({ status: 400, json: { message: 'Could not find ref: x' } })
    expect(await of('y', 'main', 'x')).toMatchObject({ status: 400, json: { message: 'Could not find refs: y, x' } })
    expect(await world.root.get(`/projects/${project.id}/repository/merge_base`)).toMatchObject({
      status: 400,
      json: { error: 'refs is missing' },
    })
    expect(await of(...Array<string>(101).fill('main'))).toMatchObject({
      status: 400,
      json: { error: 'refs does not have a valid value' },
    })
  })
})

describe('GET /projects/:id/repository/contributors', () => {
  test('D1-CONTRIBUTORS-ORDER: by commits, fewest first, with their lines; merges do not count', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    repository.commit({ a: '1\n2\n' }, { author: 'Ann <ann@example.com>' })
    const side = repository.commit({ b: '1\n' }, { author: 'Bob <bob@example.com>' })
    repository.commit({ a: '1\n' }, { author: 'Ann B <ann@example.com>' })
    const main = repository.git('rev-parse', 'main') as Oid
    repository.commit({}, { author: 'Cid <cid@example.com>', parents: [main, side] })
    const ann = { name: 'Ann B', email: 'ann@example.com', commits: 2, additions: 2, deletions: 1 }
    const bob = { name: 'Bob', email: 'bob@example.com', commits: 1, additions: 1, deletions: 0 }
    const at = `/projects/${project.id}/repository/contributors`
    expect(await world.anonymous.get(at)).toMatchObject({ status: 200, json: [bob, ann], headers: { 'x-total': '2' } })
    expect((await world.root.get(`${at}?sort=desc`)).json).toEqual([ann, bob])
    expect((await world.root.get(`${at}?order_by=name`)).json).toEqual([ann, bob])
    expect((await world.root.get(`${at}?order_by=email&sort=desc`)).json).toEqual([bob, ann])
    expect(await world.root.get(`${at}?order_by=age`)).toMatchObject({
      status: 400,
      json: { error: 'order_by does not have a valid value' },
    })
    expect((await world.root.get(`/projects/${(await storedProject(world)).id}/repository/contributors`)).json).toEqual(
      [],
    )
  })
})
