import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { gitIn } from '../../../git/testing.ts'
import type { FileAction } from './file-actions.ts'
import { storedProject } from './testing.ts'

type File = { mode: string; oid: string }
type Tree = Map<string, File>

const names = [
  'a',
  'b',
  'a.b',
  'a-b',
  'a0',
  'ä',
  '"q"',
  'sp ace',
  'A',
  '\u{1f600}',
  '\ufb01',
  'tab\there',
  'link',
  'sub',
  'run',
]
const contents = ['', 'one\n', 'two', 'ä\r\n', '\ufeffbom']

const stored = ['a', 'b/a', 'b/b/c', 'ä/"q"', 'a.b/sp ace', 'a-b', 'run', 'link', 'b/link', 'sub', 'b/sub']
const drawn = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const path = fc.oneof(drawn, fc.constantFrom(...stored))
const content = fc.constantFrom(...contents)
const action: fc.Arbitrary<FileAction> = fc.oneof(
  fc.record({ action: fc.constant('create' as const), file_path: path, content }),
  fc.record({ action: fc.constant('update' as const), file_path: path, content }),
  fc.record({ action: fc.constant('delete' as const), file_path: path }),
  fc.record({ action: fc.constant('chmod' as const), file_path: path, execute_filemode: fc.boolean() }),
  fc.record({ action: fc.constant('move' as const), file_path: path, previous_path: path }),
  fc.record({ action: fc.constant('move' as const), file_path: path, previous_path: path, content }),
)

/** A simple model of the actions: the resulting files of the tree, or that an action is impossible. */
function expected(before: Tree, actions: readonly FileAction[], hash: (content: string) => string): Tree | 'refused' {
  const files: Tree = new Map(before)
  const isTaken = (at: string, except?: string) =>
    [...files.keys()].some(
      (file) => file === at || file.startsWith(`${at}/`) || (at.startsWith(`${file}/`) && file !== except),
    )
  for (const { action, file_path, previous_path, content, execute_filemode } of actions) {
    const from = action === 'move' ? previous_path! : file_path
    const found = files.get(from)
    if (action === 'create') {
      if (isTaken(file_path)) return 'refused'
      files.set(file_path, { mode: '100644', oid: hash(content!) })
      continue
    }
    if (!found) return 'refused'
    if (content !== undefined && found.mode === '160000') return 'refused'
    const oid = content === undefined ? found.oid : hash(content)
    if (action === 'delete') files.delete(from)
    if (action === 'update') files.set(from, { mode: found.mode, oid })
    if (action === 'chmod') {
      if (!found.mode.startsWith('100')) return 'refused'
      files.set(from, { mode: execute_filemode ? '100755' : '100644', oid })
    }
    if (action === 'move') {
      if (isTaken(file_path, from)) return 'refused'
      files.delete(from)
      files.set(file_path, { mode: found.mode, oid })
    }
  }
  return files
}

/** Only the actions that are possible after those before them. */
function possible(before: Tree, actions: readonly FileAction[]): FileAction[] {
  const kept: FileAction[] = []
  for (const next of actions) {
    kept.push(next)
    if (expected(before, kept, (text) => text) === 'refused') kept.pop()
  }
  return kept
}

describe('tree edits without git', () => {
  test('edited trees are those of git, and a refused edit leaves no references', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    const base = repository.commit({
      a: 'a',
      'b/a': 'x',
      'b/b/c': 'y',
      'ä/"q"': 'z',
      'a.b/sp ace': 'blank',
      'a-b': 'dash',
      run: { mode: '100755', content: 'run' },
      link: { mode: '120000', content: 'a' },
      'b/link': { mode: '120000', content: '../a' },
      sub: { mode: '160000', oid: 'c'.repeat(40) as Oid },
      'b/sub': { mode: '160000', oid: 'd'.repeat(40) as Oid },
    })
    const hashes = new Map(
      contents.map((text) => [text, gitIn(repository.gitDir, ['hash-object', '-w', '--stdin'], text)]),
    )
    const read = (tree: string): Tree =>
      new Map(
        repository
          .git('ls-tree', '-r', '-z', tree)
          .split('\0')
          .filter(Boolean)
          .map((line) => {
            const [, mode, oid, at] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line)!
            return [at!, { mode: mode!, oid: oid! }] as const
          }),
      )
    const before = read(base)
    let run = 0
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 60 }), fc.boolean(), async (drawn, clean) => {
        const actions = clean ? possible(before, drawn) : drawn.slice(0, 5)
        const branch = `run-${++run}`
        const made = await ann.post(`/projects/${id}/repository/commits`, {
          branch,
          start_branch: 'main',
          commit_message: 'm',
          stats: false,
          actions,
        })
        const files = expected(before, actions, (text) => hashes.get(text)!)
        if (files === 'refused') {
          expect(made).toMatchObject({ status: 400, json: { message: expect.stringMatching(/name/) } })
          expect(repository.git('for-each-ref', `refs/heads/${branch}`)).toBe('')
          return
        }
        const lines = [...files].map(([at, { mode, oid }]) => `${mode} ${oid}\t${at}\0`)
        repository.git('read-tree', '--empty')
        gitIn(repository.gitDir, ['update-index', '-z', '--index-info'], lines.join(''))
        const tree = repository.git('write-tree', '--missing-ok')
        if (tree === repository.git('rev-parse', 'main^{tree}')) expect(made.status).toBe(400)
        else {
          expect(made.status, made.text).toBe(201)
          accepted++
          expect(repository.git('rev-parse', `${branch}^{tree}`)).toBe(tree)
        }
      }),
      { numRuns: 150 },
    )
    expect(accepted).toBeGreaterThan(30)
    expect(repository.git('rev-parse', 'main')).toBe(base)
    expect(repository.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('adding or removing a file in a directory of 10,000 leaves the others unchanged', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    repository.commit(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`many/${n}.txt`, `${n % 10}`])))
    const made = await ann.post(`/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: 'm',
      actions: [
        { action: 'create', file_path: 'many/5000.txu', content: 'x' },
        { action: 'create', file_path: 'many/5000/x', content: 'x' },
        { action: 'delete', file_path: 'many/7.txt' },
        { action: 'update', file_path: 'many/9999.txt', content: 'y' },
      ],
    })
    expect(made).toMatchObject({ status: 201, json: { stats: { additions: 3, deletions: 2 } } })
    expect(repository.git('diff', '--name-status', 'main~', 'main')).toBe(
      'A\tmany/5000.txu\nA\tmany/5000/x\nD\tmany/7.txt\nM\tmany/9999.txt',
    )
    expect(repository.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('a file can be nested as deep as the maximum path length', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    repository.commit({ a: 'a\n' })
    const file_path = `${'d/'.repeat(2047)}f`
    const made = await ann.post(`/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: 'm',
      actions: [{ action: 'create', file_path, content: 'x' }],
    })
    expect(made).toMatchObject({ status: 201, json: { stats: { additions: 1, deletions: 0 } } })
    expect(repository.git('diff', '--name-only', 'main~', 'main')).toBe(file_path)
    expect(repository.git('fsck', '--strict', '--no-dangling')).toBe('')
  })
})
