import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { history, linesOf, storedProject } from './testing.ts'

describe('GET /projects/:id/repository/commits/:sha/diff', () => {
  test('D1-COMMIT-SHA-NAME: the diff of a commit is that of git, for any history', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const made = history(repository, 'diffs', 25)
    for (const sha of [...made, 'main']) {
      const { json } = await world.root.get(`/projects/${project.id}/repository/commits/${sha}/diff?per_page=100`)
      const parents = repository.git('rev-parse', `${sha}^@`)
      const base = parents === '' ? '4b825dc642cb6eb9a060e54bf8d69288fbee4904' : linesOf(parents)[0]!
      const sections = `\n${repository.git('diff-tree', '-r', '-p', '-M', base, sha)}\n`.split('\ndiff --git ').slice(1)
      expect(json.map((entry: any) => entry.diff.trimEnd())).toEqual(
        sections.map((section) => /(^@@ .*)/ms.exec(section)?.[1]?.trimEnd() ?? ''),
      )
    }
  })

  test('the diff of a commit has new, deleted, renamed, mode and binary changes', async ({ world }) => {
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

  test('D1-DIFF-LIMITS: a diff has at most 1,000 files and 50,000 lines', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const files = repository.commit(Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`f${at}`, `${at}\n`])))
    const manyLines = repository.commit(
      Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`g${at}`, `${at}\n`.repeat(9000)])),
    )
    const total = async (sha: string) =>
      (await world.root.get(`/projects/${project.id}/repository/commits/${sha}/diff?per_page=1`)).headers['x-total']
    expect(await total(files)).toBe('1000')
    expect(await total(manyLines)).toBe('5')
  })
})
