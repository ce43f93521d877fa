import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { newObject, writeObjects } from '../../../git/objects/objects.ts'
import { storedProject } from './testing.ts'

/** `main` and `stable` diverge after the first commit. */
async function storedLines(world: World) {
  const ann = await world.user({ name: 'Ann Example' })
  const { id, repository } = await storedProject(world, { visibility: 'private', members: [[ann, 'developer']] })
  const first = repository.commit({ 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n' }, { message: 'First' })
  repository.commit({ 'c.txt': 'c\n' }, { branch: 'stable', parents: [first], message: 'Stable' })
  const fix = repository.commit(
    { 'a.txt': '1\n2\n3\n4\nfive\n' },
    { message: 'Fix five\n\nAt length.\n', author: 'Dora <dora@example.com>' },
  )
  const pick = (sha: string, branch: unknown, more = {}) =>
    ann.post(`/projects/${id}/repository/commits/${encodeURIComponent(sha)}/cherry_pick`, { branch, ...more })
  const revert = (sha: string, branch: unknown, more = {}) =>
    ann.post(`/projects/${id}/repository/commits/${encodeURIComponent(sha)}/revert`, { branch, ...more })
  return { ann, id, repository, first, fix, pick, revert, git: (...args: string[]) => repository.git(...args) }
}

const sorry = (infinitive: string, participle: string) =>
  `Sorry, we cannot ${infinitive} this commit automatically. This commit may already have been ${participle}, or a more recent commit may have updated some of its content.`

describe('POST /projects/:id/repository/commits/:sha/cherry_pick', () => {
  test('a cherry-pick keeps the author and applies only the change of the commit', async ({ world }) => {
    const { ann, fix, pick, git } = await storedLines(world)
    const before = git('rev-parse', 'stable')
    const made = await pick(fix, 'stable')
    expect(made).toMatchObject({
      status: 201,
      json: {
        id: git('rev-parse', 'stable'),
        parent_ids: [before],
        title: 'Fix five',
        message: `Fix five\n\nAt length.\n\n(cherry picked from commit ${fix})`,
        author_name: 'Dora',
        author_email: 'dora@example.com',
        authored_date: '2023-11-14T23:13:22.000+01:00',
        committer_name: 'Ann Example',
        committer_email: `${ann.username}@example.com`,
      },
    })
    expect(made.json).not.toHaveProperty('stats')
    expect(git('show', 'stable:a.txt')).toBe('1\n2\n3\n4\nfive')
    expect(git('diff', '--name-only', 'stable~', 'stable')).toBe('a.txt')
    expect(git('fsck', '--strict')).toBe('')
    expect((await pick(fix.slice(0, 8), 'stable', { message: 'Mine' })).json).toMatchObject({ error_code: 'empty' })
  })

  test('D1-CHERRY-PICK-ERROR: a conflict or empty pick moves no ref and leaves nothing', async ({ world }) => {
    const { fix, pick, git, repository } = await storedLines(world)
    repository.commit({ 'a.txt': '1\n2\n3\n4\nV\n' }, { branch: 'stable' })
    const before = git('for-each-ref')
    const message = sorry('cherry-pick', 'cherry-picked')
    expect(await pick(fix, 'stable')).toMatchObject({ status: 400, json: { message, error_code: 'conflict' } })
    expect((await pick(fix, 'stable')).json).toEqual({ message, error_code: 'conflict' })
    expect(await pick(fix, 'main')).toMatchObject({ status: 400, json: { message, error_code: 'empty' } })
    expect(git('for-each-ref')).toBe(before)
    expect(git('fsck', '--strict')).toBe('')
    expect(git('count-objects', '-v')).toContain('garbage: 0')
  })

  test('a merge is picked against its first parent, a first commit against the empty tree', async ({ world }) => {
    const { first, fix, pick, git, repository } = await storedLines(world)
    const side = repository.commit({ 'd.txt': 'd\n' }, { branch: 'side', parents: [first] })
    const merge = repository.commit({ 'd.txt': 'd\n' }, { parents: [fix, side], message: 'Merge side' })
    expect((await pick(merge, 'stable')).status).toBe(201)
    expect(git('ls-tree', '--name-only', 'stable')).toBe('a.txt\nb.txt\nc.txt\nd.txt')
    expect(git('show', 'stable:a.txt')).toBe('1\n2\n3\n4\n5')
    const other = repository.commit({ 'e.txt': 'e\n' }, { branch: 'orphan', parents: [] })
    git('update-ref', 'refs/heads/orphan', other)
    expect((await pick(first, 'orphan')).status).toBe(201)
    expect(git('ls-tree', '--name-only', 'orphan')).toBe('a.txt\nb.txt\ne.txt')
  })

  test.for([
    ['99999999999999 +0000', '99999999999999 +0000'],
    ['1700000000 +9999', '1700000000 +0000'],
    ['1700000000 -1200', '1700000000 -1200'],
  ] as const)('a cherry-pick of a commit of the time %s is a valid commit', async ([time, kept], { world }) => {
    const { fix, pick, git, repository } = await storedLines(world)
    const text = git('cat-file', 'commit', fix).replace(/^author .*$/m, `author Eve <eve@example.com> ${time}`)
    const odd = newObject('commit', Buffer.from(text))
    await writeObjects(repository.repo, [odd])
    git('update-ref', 'refs/heads/odd', odd.oid)
    expect((await pick('odd', 'stable')).status).toBe(201)
    git('update-ref', '-d', 'refs/heads/odd')
    git('prune', '--expire=now')
    expect(git('cat-file', 'commit', 'stable')).toContain(`\nauthor Eve <eve@example.com> ${kept}\n`)
    expect(git('fsck', '--strict')).toBe('')
  })

  test('a cherry-pick follows renames', async ({ world }) => {
    const { fix, pick, git, repository } = await storedLines(world)
    repository.commit({ 'a.txt': null, 'dir/z.txt': '1\n2\n3\n4\n5\n' }, { branch: 'stable' })
    expect((await pick(fix, 'stable')).status).toBe(201)
    expect(git('show', 'stable:dir/z.txt')).toBe('1\n2\n3\n4\nfive')
  })

  test('a dry run of a cherry-pick or revert moves no ref', async ({ world }) => {
    const { fix, pick, revert, git } = await storedLines(world)
    const before = git('for-each-ref')
    expect((await pick(fix, 'stable', { dry_run: true })).json).toEqual({ dry_run: 'success' })
    expect((await revert(fix, 'main', { dry_run: true })).json).toEqual({ dry_run: 'success' })
    expect((await pick(fix, 'main', { dry_run: true })).json).toMatchObject({ error_code: 'empty' })
    expect(git('for-each-ref')).toBe(before)
  })

  test.for([
    ['an unknown commit', 'f'.repeat(40), 'main', 404, { message: '404 Commit Not Found' }],
    ['an unknown branch', 'main', 'none', 404, { message: '404 Branch Not Found' }],
    ['a malformed branch', 'main', 'a..b', 400, { message: 'The branch refname is invalid' }],
    ['a blank branch', 'main', ' ', 400, { error: 'branch is empty' }],
    ['no branch', 'main', undefined, 400, { error: 'branch is missing' }],
  ] as const)('cherry-pick and revert of %s are refused', async ([, sha, branch, status, json], { world }) => {
    const { pick, revert, git } = await storedLines(world)
    const before = git('for-each-ref')
    expect(await pick(sha, branch)).toMatchObject({ status, json })
    expect(await revert(sha, branch)).toMatchObject({ status, json })
    expect(git('for-each-ref')).toBe(before)
  })
})

describe('POST /projects/:id/repository/commits/:sha/revert', () => {
  test('a revert undoes the change and has the caller as author', async ({ world }) => {
    const { fix, revert, git, ann } = await storedLines(world)
    expect(await revert('main', 'main')).toMatchObject({
      status: 201,
      json: {
        parent_ids: [fix],
        message: `Revert "Fix five"\n\nThis reverts commit ${fix}`,
        author_name: 'Ann Example',
        author_email: `${ann.username}@example.com`,
        committer_name: 'Ann Example',
      },
    })
    expect(git('rev-parse', 'main^{tree}')).toBe(git('rev-parse', `${fix}~^{tree}`))
    expect(git('fsck', '--strict')).toBe('')
  })

  test('the title of a revert has at most 81 characters', async ({ world }) => {
    const { revert, repository } = await storedLines(world)
    const long = repository.commit({ 'x.txt': 'x\n' }, { message: 'y'.repeat(200) })
    expect((await revert(long, 'main')).json.title).toBe(`Revert "${'y'.repeat(78)}..."`)
  })

  test('a revert of a commit without message names it as records do', async ({ world }) => {
    const { revert, repository } = await storedLines(world)
    const silent = repository.commit({ 'x.txt': 'x\n' }, { message: '' })
    const { json } = await revert(silent, 'main')
    expect(json.message).toBe(`Revert "--no commit message"\n\nThis reverts commit ${silent}`)
  })

  test('the first commit of a repository can be reverted', async ({ world }) => {
    const { first, revert, git } = await storedLines(world)
    git('branch', 'start', first)
    expect((await revert(first, 'start')).status).toBe(201)
    expect(git('ls-tree', 'start')).toBe('')
    expect(git('fsck', '--strict')).toBe('')
  })

  test('D1-REVERT-ERROR: conflict, or empty when already reverted', async ({ world }) => {
    const { fix, revert, git, repository } = await storedLines(world)
    const message = sorry('revert', 'reverted')
    expect((await revert(fix, 'main')).status).toBe(201)
    expect(await revert(fix, 'main')).toMatchObject({ status: 400, json: { message, error_code: 'empty' } })
    repository.commit({ 'a.txt': '1\n2\n3\n4\nV\n' }, { branch: 'stable' })
    const before = git('for-each-ref')
    expect(await revert(fix, 'stable')).toMatchObject({ status: 400, json: { message, error_code: 'conflict' } })
    expect(git('for-each-ref')).toBe(before)
  })
})
