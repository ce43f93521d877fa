import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { branchRef } from '../format/ref-name.ts'
import { countCommits, lastCommitOfPath, listCommits } from '../history/history.ts'
import { setDefaultBranch } from '../refs/head.ts'
import { findRevision, resolve } from '../refs/resolve.ts'
import { argvFor } from '../runner/command.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { listTree } from './tree-listing.ts'
import { findEntry, readTreeAt } from './trees.ts'

let world: TestGit
let made: TestRepository
let tip: Oid

beforeAll(async () => {
  world = await TestGit.start()
  made = await world.repository()
  made.commit({ 'a.txt': 'one', 'd/x': 'x' }, { message: 'aaaa' })
  tip = made.commit({ 'a.txt': 'two' }, { message: 'aaaa again' })
  made.git('update-ref', 'refs/stithy/undo/1', tip)
  made.git('tag', '-a', '-m', 'first', 'v1', tip)
})
afterAll(() => world[Symbol.asyncDispose]())

// Most of these mean something to git, and would resolve if they reached it.
const hostile = [
  ...[
    '--upload-pack=touch /tmp/x',
    '--output=/tmp/x',
    '-x',
    '-',
    '--',
    '---',
    '-c',
    '--all',
    '--stdin',
    '--batch',
    '--exec=id',
    '-h',
  ],
  ...[
    '@',
    '@{',
    '@{0}',
    '@{-1}',
    '@{u}',
    '@{yesterday}',
    'main@{0}',
    'main@{1 day ago}',
    'HEAD@{0}',
    'main@{upstream}',
  ],
  ...[
    'HEAD~-1',
    'HEAD^-',
    'HEAD~1000000',
    `HEAD${'~1'.repeat(17)}`,
    'none~1',
    'HEAD:~1',
    'HEAD^@',
    'HEAD^!',
    'HEAD^{}',
    'HEAD^{tree}',
    'HEAD^{commit}',
    'HEAD^{/(a+)+}',
    'HEAD^{/aaaa}',
    'main~1^{}',
    'main^2@',
  ],
  ...[':path', ':/aaaa', ':/!-x', ':0:a.txt', 'HEAD:a.txt', 'main:', 'main:d', ':(glob)*', ':', '::'],
  ...['..', '...', 'main..main', 'main...main', '^main', '^', 'a..b', '~', '~1'],
  ...[
    'main\0',
    '\0',
    'main\0main',
    'main\n',
    '\n',
    'main\nHEAD',
    '\r',
    'main\r\n',
    ' main',
    'main ',
    'main HEAD',
    '\t',
  ],
  ...[
    'refs/stithy/undo/1',
    'stithy/undo/1',
    'refs/stithy',
    'refs/heads',
    'refs/heads/',
    'heads',
    'refs/',
    'refs',
    '/main',
    'main/',
    'refs//heads/main',
  ],
  ...[
    'v1-0-gaaaa',
    'x'.repeat(300),
    'é'.repeat(300),
    '日本語',
    '🐙',
    '\ud800',
    '\u202emain',
    'ｍain',
    'MAIN',
    'main.lock',
    '.main',
    'main.',
  ],
  ...[
    '0'.repeat(40),
    'f'.repeat(40),
    'abc',
    'dead',
    'g'.repeat(40),
    '0'.repeat(64),
    '$(id)',
    '`id`',
    ';id',
    '|id',
    '*',
    'm*',
    'ma?n',
    '[m]ain',
    '%2e%2e',
    '\\main',
    '',
  ],
]

describe('hostile texts from users', () => {
  test('the list of hostile texts has more than 90 entries', () => expect(new Set(hostile).size).toBeGreaterThan(90))

  test.each(hostile.map((text) => [text]))('the revision %j does not resolve', async (text) => {
    expect(await resolve(made.repo, text)).toBeUndefined()
  })

  test.each(hostile.map((text) => [text]))('the path %j does not exist', async (path) => {
    expect(await findEntry(made.repo, tip, path)).toBeUndefined()
    if (path === '') return
    expect(await readTreeAt(made.repo, tip, path)).toBeUndefined()
    expect(await listTree(made.repo, tip, path, { recursive: true })).toBeUndefined()
    expect(await lastCommitOfPath(made.repo, tip, path)).toBeUndefined()
    expect(await listCommits(made.repo, { from: [tip], path }, { limit: 5 })).toEqual([])
  })

  test.each(hostile.map((text) => [text]))(
    '%j is matched as author or message text, never as a flag or pattern',
    async (text) => {
      const literally = ['ann <ann@example.com>', 'cid <cid@example.com>'].some((author) =>
        author.includes(text.toLowerCase()),
      )
      // The two messages are both "aaaa again", and every text contains the empty text.
      const expected = text === '' || literally ? 2 : 0
      expect(await countCommits(made.repo, { from: [tip], author: text })).toBe(
        text === '@' ? 2 : /^[\r\n\t\0 ]$/.test(text) && text !== '\t' ? 2 : expected,
      )
      expect(await countCommits(made.repo, { from: [tip], message: text })).toBe(
        text === '' ? 2 : /^[\r\n\0]$/.test(text) ? 1 : 0,
      )
    },
  )

  test.each(hostile.filter((text) => branchRef(text) === undefined).map((text) => [text]))(
    'the default branch %j is refused',
    async (text) => {
      const other = await world.repository()
      await expect(setDefaultBranch(other.repo, text)).rejects.toMatchObject({ kind: 'invalid' })
      expect(other.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main')
    },
  )

  test('a text that looks like a flag is refused by commands without a separator', () => {
    expect(() => argvFor('for-each-ref', { args: ['--shell'] })).toThrow('looks like an option')
    expect(argvFor('rev-list', { flags: ['--count'], args: ['--all'], paths: ['-x'] })).toEqual([
      'rev-list',
      '--count',
      '--end-of-options',
      '--all',
      '--',
      '-x',
    ])
    expect(() => argvFor('rev-list', { args: ['a\0--all'] })).toThrow('NUL')
    expect(() => argvFor('for-each-ref', { paths: ['x'] })).toThrow('takes no paths')
  })

  test('a valid request to the object reader succeeds after each hostile one', async () => {
    const answers = await Promise.all(hostile.flatMap((text) => [resolve(made.repo, text), resolve(made.repo, 'main')]))
    expect(answers.filter((_, index) => index % 2 === 1)).toEqual(hostile.map(() => tip))
  })
})

describe('revisions', () => {
  test('a revision is a commit id, HEAD, a branch, a tag, a full or a short name', async () => {
    for (const text of [
      'main',
      'HEAD',
      'refs/heads/main',
      'heads/main',
      'v1',
      'refs/tags/v1',
      'tags/v1',
      tip,
      tip.toUpperCase(),
      tip.slice(0, 7),
      tip.slice(0, 4),
    ]) {
      expect([text, await resolve(made.repo, text)]).toEqual([text, tip])
    }
  })

  test('a name of both a tag and a branch is the tag, as in git, unless preferred otherwise', async () => {
    const { repo, ...other } = await two()
    expect(await findRevision(repo, 'both')).toEqual({ oid: other.first, ref: 'refs/tags/both' })
    expect(await findRevision(repo, 'both', { prefer: 'branch' })).toEqual({
      oid: other.second,
      ref: 'refs/heads/both',
    })
    expect(await findRevision(repo, 'main', { only: 'tag' })).toBeUndefined()
    expect(await findRevision(repo, other.first, { only: 'branch' })).toBeUndefined()
  })

  test('a revision that looks like a commit id is a branch when no such commit exists', async () => {
    const { repo, second } = await two()
    expect(await findRevision(repo, 'dead')).toEqual({ oid: second, ref: 'refs/heads/dead' })
    expect(await findRevision(repo, 'e'.repeat(40))).toEqual({ oid: second, ref: `refs/heads/${'e'.repeat(40)}` })
  })

  async function two() {
    const other = await world.repository()
    const first = other.commit({ a: '1' })
    const second = other.commit({ a: '2' })
    other.git('update-ref', 'refs/tags/both', first)
    for (const branch of ['both', 'dead', 'e'.repeat(40)]) other.git('update-ref', `refs/heads/${branch}`, second)
    return { repo: other.repo, first, second }
  }

  test('a revision of an empty or missing repository or an unborn branch is undefined', async () => {
    const empty = await world.repository()
    const missing = world.git.open(join(world.folder, 'missing.git'))
    for (const text of ['HEAD', 'main', 'f'.repeat(40), 'abcd']) {
      expect(await resolve(empty.repo, text)).toBeUndefined()
      expect(await resolve(missing, text)).toBeUndefined()
    }
  })
})
