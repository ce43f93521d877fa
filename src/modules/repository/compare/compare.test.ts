import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { gitIn, type TestRepository } from '../../../git/testing.ts'
import { gitCommands, hostileRefs, openAndClosed, type StoredProject, storedProject } from '../commits/testing.ts'
import { withTimeout } from './service.ts'

const enc = encodeURIComponent
const at = (project: StoredProject, from: string, to: string, more = '') =>
  `/projects/${project.id}/repository/compare?from=${enc(from)}&to=${enc(to)}${more}`

const ids = (answer: any) => answer.json.commits.map(({ id }: any) => id)
const paths = (answer: any) => answer.json.diffs.map((diff: any) => [diff.old_path, diff.new_path])
const nothing = { commit: null, commits: [], diffs: [], compare_timeout: false }

/** The result of git: commits oldest first, and all hunks in sequence. */
function compareByGit(repository: TestRepository, from: string, to: string, dots: '..' | '...') {
  const hunks = repository
    .git('diff', '-M', `${from}${dots}${to}`)
    .split(/^diff --git .*$/m)
    .slice(1)
    .map((patch) => /^@@ [\s\S]*/m.exec(patch)?.[0] ?? /^Binary files .*\n/m.exec(patch)?.[0] ?? '')
  const commits = repository.git('rev-list', '--reverse', `${from}..${to}`)
  return { commits: commits === '' ? [] : commits.split('\n'), text: hunks.join('').trimEnd() }
}

describe('GET /projects/:id/repository/compare', () => {
  test('D1-COMPARE-STRAIGHT: compares from the merge base, or from the other ref', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const base = repository.commit({ a: 'one\n', b: 'b\n' })
    repository.git('branch', 'topic', base)
    const onMain = repository.commit({ b: 'changed\n' })
    const first = repository.commit({ c: 'c\n' }, { branch: 'topic', message: 'First\n\nMore.\n' })
    const second = repository.commit({ a: 'two\n' }, { branch: 'topic', message: 'Second' })

    const answer = await world.root.get(at(project, 'main', 'topic'))
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.json).sort()).toEqual([
      'commit',
      'commits',
      'compare_same_ref',
      'compare_timeout',
      'diffs',
    ])
    expect(ids(answer)).toEqual([first, second])
    expect(answer.json.commit).toEqual(answer.json.commits[1])
    expect(answer.json.commit).toMatchObject({
      id: second,
      short_id: second.slice(0, 8),
      title: 'Second',
      author_name: 'Ann',
      author_email: 'ann@example.com',
      parent_ids: [first],
    })
    expect(answer.json.commits[0]).toMatchObject({ title: 'First', message: 'First\n\nMore.\n' })
    expect(answer.json).toMatchObject({ compare_timeout: false, compare_same_ref: false })
    expect(answer.json.diffs).toEqual([
      {
        old_path: 'a',
        new_path: 'a',
        a_mode: '100644',
        b_mode: '100644',
        new_file: false,
        renamed_file: false,
        deleted_file: false,
        diff: '@@ -1 +1 @@\n-one\n+two\n',
      },
      {
        old_path: 'c',
        new_path: 'c',
        a_mode: '0',
        b_mode: '100644',
        new_file: true,
        renamed_file: false,
        deleted_file: false,
        diff: '@@ -0,0 +1 @@\n+c\n',
      },
    ])

    const straight = await world.root.get(at(project, 'main', 'topic', '&straight=true'))
    expect(ids(straight)).toEqual([first, second])
    expect(paths(straight)).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ])
    const back = await world.root.get(at(project, 'topic', 'main', '&straight=0'))
    expect(ids(back)).toEqual([onMain])
    expect(paths(back)).toEqual([['b', 'b']])
  })

  test('compare agrees with git on histories that branch and merge', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const text = (word: string) => Array.from({ length: 30 }, (_, line) => `${word} ${line}\n`).join('')
    repository.commit({ 'a.txt': text('a'), 'b.txt': text('b'), 'gone.txt': text('g') })
    repository.git('tag', 'v1')
    let side: Oid = repository.git('rev-parse', 'main') as Oid
    for (let round = 0; round < 12; round++) {
      const main = repository.commit({ 'a.txt': text('a').replace(`a ${round}\n`, `changed ${round}\n`) })
      side = repository.commit({ [`s${round}`]: `side ${round}` }, { branch: 'side', parents: [side] })
      if (round % 4 === 3)
        repository.commit({ [`s${round}`]: `side ${round}` }, { parents: [main, side], message: `Merge ${round}` })
    }
    repository.commit({ 'b.txt': null, 'moved/b.txt': text('b').replace('b 3', 'B 3'), 'gone.txt': null })
    repository.commit({ bin: Buffer.from([0, 1, 2]), run: { mode: '100755', content: 'x' }, 'v1.txt': 'no newline' })
    for (const [from, to] of [
      ['v1', 'main'],
      ['main', 'v1'],
      ['side', 'main'],
      ['main', 'side'],
      ['v1', 'side'],
      ['main~3', 'main'],
    ] as const) {
      for (const straight of [false, true]) {
        const of = (name: string) => (name.includes('~') ? repository.git('rev-parse', name) : name)
        const answer = await world.root.get(at(project, of(from), of(to), `&straight=${straight}`))
        const expected = compareByGit(repository, from, to, straight ? '..' : '...')
        expect(ids(answer), `${from} ${to}`).toEqual(expected.commits)
        expect(
          answer.json.diffs
            .map(({ diff }: any) => diff)
            .join('')
            .trimEnd(),
          `${from} ${to}`,
        ).toBe(expected.text)
        expect(answer.json.commit?.id ?? null).toBe(expected.commits.at(-1) ?? null)
      }
    }
  })

  test('comparing a commit with itself, unrelated histories and missing refs', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: 'a\n' })
    const root = project.repository.commit({ other: 'o\n' }, { branch: 'orphan' })
    for (const [from, to] of [
      ['main', 'main'],
      ['main', first],
      [first.slice(0, 7), 'HEAD'],
    ] as const)
      expect(await world.root.get(at(project, from, to))).toMatchObject({
        status: 200,
        json: { ...nothing, compare_same_ref: true },
      })
    const strange = await world.root.get(at(project, 'main', 'orphan'))
    expect(ids(strange)).toEqual([root])
    expect(paths(strange)).toEqual([['other', 'other']])
    for (const [from, to] of [
      ['main', 'nope'],
      ['nope', 'main'],
      ['nope', 'nope'],
    ] as const)
      expect(await world.root.get(at(project, from, to))).toMatchObject({
        status: 200,
        json: { ...nothing, compare_same_ref: null },
      })
    const empty = await storedProject(world)
    expect(await world.root.get(at(empty, 'main', 'main'))).toMatchObject({ status: 200, json: nothing })
  })

  test('400 for compare without both refs, and hostile refs name nothing', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'a.txt': 'a' })
    const get = (query: string) => world.root.get(`/projects/${project.id}/repository/compare?${query}`)
    expect(await get('to=main')).toMatchObject({ status: 400, json: { error: 'from is missing' } })
    expect(await get('from=main')).toMatchObject({ status: 400, json: { error: 'to is missing' } })
    expect(await get('from=&to=main')).toMatchObject({ status: 400, json: { error: 'from is empty' } })
    expect(await get('from=main&to=main&straight=maybe')).toMatchObject({
      status: 400,
      json: { error: 'straight is invalid' },
    })
    for (const ref of hostileRefs) {
      for (const [from, to] of [
        [ref, 'main'],
        ['main', ref],
      ] as const) {
        const { status, json } = await world.root.get(at(project, from, to))
        expect([200, 400], JSON.stringify(ref)).toContain(status)
        if (status === 200) expect(json, JSON.stringify(ref)).toEqual({ ...nothing, compare_same_ref: null })
      }
    }
  })

  test('D1-AUTH-PUBLIC-READS: compare needs read access to the code', async ({ world }) => {
    const { open, closed, stranger, guest, reporter } = await openAndClosed(world)
    expect(await world.anonymous.get(at(open, 'main', 'main'))).toMatchObject({ status: 200 })
    for (const [who, status] of [
      [world.anonymous, 404],
      [stranger, 404],
      [guest, 403],
      [reporter, 200],
      [await world.as(reporter, ['read_repository']), 403],
      [await world.as(reporter, ['read_api']), 200],
    ] as const)
      expect(await who.get(at(closed, 'main', 'main'))).toMatchObject({ status })
  })

  test('D1-DIFF-LIMITS: large files have no text; above the limit files are omitted with a flag', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    project.repository.git('tag', 'before')
    project.repository.commit({ large: 'x\n'.repeat(100_000), small: 's\n' })
    const one = await world.root.get(at(project, 'before', 'main'))
    expect(one.json).toMatchObject({
      compare_timeout: false,
      diffs: [
        { new_path: 'large', diff: '' },
        { new_path: 'small', diff: '@@ -0,0 +1 @@\n+s\n' },
      ],
    })
    // More than the diff of a single commit shows, which has its own limits.
    const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, index) => [`m/${index}`, 'm\n']))
    project.repository.commit(many)
    const whole = await world.root.get(at(project, 'before', 'main'))
    expect(whole.json.diffs).toHaveLength(1_202)
    expect(whole.json.compare_timeout).toBe(false)
    project.repository.commit(Object.fromEntries(Array.from({ length: 10_100 }, (_, index) => [`n/${index}`, ''])))
    const wide = await world.root.get(at(project, 'before', 'main'))
    expect(wide.json.diffs).toHaveLength(11_302)
    expect(wide.json.compare_timeout).toBe(false)
    const text = `${'x'.repeat(98)}\n`.repeat(1_000)
    project.repository.commit(Object.fromEntries(Array.from({ length: 220 }, (_, index) => [`a/${index}`, text])))
    const cut = await world.root.get(at(project, 'before', 'main'))
    expect(cut.json.diffs.length).toBeLessThan(11_522)
    expect(cut.json.compare_timeout).toBe(true)
    expect(cut.json.commits).toHaveLength(4)
  })

  test('a compare that times out omits the diff', async () => {
    const whole = { files: [], overflow: false }
    expect(await withTimeout(Promise.resolve(whole), 1_000)).toBe(whole)
    expect(await withTimeout(new Promise(() => {}), 10)).toEqual({ files: [], overflow: true })
    await expect(withTimeout(Promise.reject(new Error('broken')), 1_000)).rejects.toThrow('broken')
  })

  test('a compare whose messages exceed the limit has the newest commits that fit', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: '0' })
    project.repository.git('tag', 'before')
    const made = Array.from({ length: 6 }, (_, index) =>
      project.repository.commit({ a: `${index + 1}` }, { message: 'm'.repeat(7_000_000) }),
    )
    const answer = await world.root.get(at(project, 'before', 'main'))
    expect(ids(answer)).toEqual(made.slice(-4))
    expect(answer.json.commit.id).toBe(made.at(-1))
    expect(answer.json.compare_timeout).toBe(true)
  })

  test('a compare of 300 commits starts at most three processes', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    project.repository.git('tag', 'before')
    const input = Array.from(
      { length: 300 },
      (_, index) =>
        `commit refs/heads/main\ncommitter C <c@example.com> ${1_800_000_000 + index} +0000\ndata 6\nChange\n${index === 0 ? 'from refs/heads/main^0\n' : ''}M 100644 inline f${index % 40}\ndata 5\n${String(index).padStart(4, '0')}\n\n`,
    ).join('')
    gitIn(project.repository.gitDir, ['fast-import', '--quiet'], input)
    let json: any
    const started = await gitCommands(world, async () => {
      json = (await world.root.get(at(project, 'before', 'main'))).json
    })
    expect(json.commits).toHaveLength(300)
    expect(started.length).toBeLessThanOrEqual(3)
  })
})
