import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { beginRequest } from '../../../../test/begun-request.ts'
import { type Client, git, type TestProject, temporaryFolder, test } from '../../../../test/world.ts'
import { basic, lfs, lfsType } from './testing.ts'

const lock = (who: Client, project: TestProject, path: string) =>
  lfs(who, project, 'POST', 'locks', { json: { path, ref: { name: 'refs/heads/main' } } })
const unlock = (who: Client, project: TestProject, id: string, force?: boolean) =>
  lfs(who, project, 'POST', `locks/${id}/unlock`, { json: { ...(force !== undefined && { force }) } })
const list = async (who: Client, project: TestProject, query = '') =>
  (await lfs(who, project, 'GET', `locks${query}`)).json

describe('LFS locks', () => {
  test('LFS locks are created once, listed, and removed by their owner', async ({ world }) => {
    const ann = await world.user()
    const bob = await world.user()
    const project = await world.project({
      members: [
        [ann, 'developer'],
        [bob, 'developer'],
      ],
    })
    const made = await lock(ann, project, 'art/köpf.psd')
    expect(made).toMatchObject({
      status: 201,
      json: {
        lock: {
          id: expect.stringMatching(/^\d+$/),
          path: 'art/köpf.psd',
          locked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          owner: { name: `Name of ${ann.username}` },
        },
      },
    })
    const mine = made.json.lock
    expect(await lock(bob, project, 'art/köpf.psd')).toMatchObject({
      status: 409,
      json: { message: 'already locked', lock: mine, documentation_url: expect.any(String) },
    })
    const theirs = (await lock(bob, project, 'other')).json.lock

    expect(await list(ann, project)).toEqual({ locks: [mine, theirs] })
    expect(await list(ann, project, '?path=other&refspec=refs/heads/main')).toEqual({ locks: [theirs] })
    expect(await list(ann, project, `?id=${mine.id}`)).toEqual({ locks: [mine] })
    expect(await list(ann, project, '?limit=1')).toEqual({ locks: [mine], next_cursor: theirs.id })
    expect(await list(ann, project, `?cursor=${theirs.id}`)).toEqual({ locks: [theirs] })
    const verified = await lfs(ann, project, 'POST', 'locks/verify', { json: { ref: { name: 'x' } } })
    expect(verified.json).toEqual({ ours: [mine], theirs: [theirs] })
    const first = await lfs(ann, project, 'POST', 'locks/verify', { json: { limit: 1 } })
    expect(first.json).toEqual({ ours: [mine], theirs: [], next_cursor: theirs.id })

    expect(await unlock(ann, project, mine.id)).toMatchObject({ status: 200, json: { lock: mine } })
    expect((await unlock(ann, project, mine.id)).status).toBe(404)
    expect((await lock(bob, project, 'art/köpf.psd')).status).toBe(201)
  })

  test('maintainers remove LFS locks of others with force', async ({ world }) => {
    const [ann, bob, max] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'developer'],
        [bob, 'developer'],
        [max, 'maintainer'],
      ],
    })
    const { id } = (await lock(ann, project, 'x')).json.lock
    expect(await unlock(bob, project, id)).toMatchObject({
      status: 403,
      json: { message: `x is locked by Name of ${ann.username}` },
    })
    expect(await unlock(bob, project, id, true)).toMatchObject({
      status: 403,
      json: { message: 'You must have maintainer access to force delete a lock' },
    })
    expect((await unlock(max, project, id)).status).toBe(403)
    expect((await unlock(max, project, id, true)).status).toBe(200)
    const other = await world.project({ members: [[max, 'maintainer']] })
    expect((await unlock(max, other, (await lock(bob, project, 'y')).json.lock.id, true)).status).toBe(404)
  })

  test('a former developer whose request body arrives late locks and unlocks nothing, nor does a former maintainer with force', async ({
    world,
  }) => {
    const [ann, bob, max] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'developer'],
        [bob, 'developer'],
        [max, 'maintainer'],
      ],
    })
    const [mine, other] = [(await lock(bob, project, 'x')).json.lock, (await lock(ann, project, 'y')).json.lock]
    const late = async (who: Client, path: string) => {
      const sent = beginRequest(`${world.origin}/${project.full_path}.git/info/lfs/${path}`, {
        headers: { ...basic(who), accept: lfsType, 'content-type': lfsType },
      })
      await sent.begun
      return sent
    }
    const locking = await late(bob, 'locks')
    const unlocking = await late(bob, `locks/${mine.id}/unlock`)
    const forcing = await late(max, `locks/${other.id}/unlock`)
    await world.root.delete(`/projects/${project.id}/members/${bob.id}`)
    await world.root.put(`/projects/${project.id}/members/${max.id}`, { access_level: 30 })
    expect((await locking.complete(JSON.stringify({ path: 'z' }))).status).toBe(403)
    expect((await unlocking.complete('{}')).status).toBe(403)
    expect((await forcing.complete(JSON.stringify({ force: true }))).status).toBe(403)
    expect(await list(ann, project)).toEqual({ locks: [mine, other] })
  })

  test('403 for an LFS batch of a user who is blocked while its body arrives', async ({ world }) => {
    const bob = await world.user()
    const project = await world.project({ visibility: 'public', members: [[bob, 'developer']] })
    const sent = beginRequest(`${world.origin}/${project.full_path}.git/info/lfs/objects/batch`, {
      headers: { ...basic(bob), accept: lfsType, 'content-type': lfsType },
    })
    await sent.begun
    await world.root.post(`/users/${bob.id}/block`)
    const objects = [{ oid: 'a'.repeat(64), size: 1 }]
    expect((await sent.complete(JSON.stringify({ operation: 'upload', objects }))).status).toBe(403)
  })

  test('a locked file is changed, moved and removed by the owner of its LFS lock only, whichever way a commit comes', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'maintainer'],
        [bob, 'developer'],
      ],
    })
    await using folder = await temporaryFolder()
    const url = (who: Client) => world.remote(project, who)
    const run = (...args: string[]) => git(folder.path, ...args)
    const commit = async (files: Record<string, string>) => {
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text)
      await run('add', '.')
      await run('commit', '-qm', 'Change')
    }
    await run('init', '-q', '-b', 'main')
    await commit({ 'a b.bin': '1', other: '1' })
    await run('push', '-q', url(ann), 'main')
    const { id } = (await lock(bob, project, 'a b.bin')).json.lock
    const refused = `The path 'a b.bin' is locked in Git LFS by Name of ${bob.username}`

    // By git: a change that a later commit takes back, a move, a new branch, a tag.
    await run('checkout', '-qb', 'hidden')
    await commit({ 'a b.bin': '2' })
    await commit({ 'a b.bin': '1', other: '2' })
    await expect(run('push', '-q', url(ann), 'hidden')).rejects.toThrow(refused)
    await expect(run('push', '-q', url(ann), 'hidden:refs/tags/hidden')).rejects.toThrow(refused)
    await run('checkout', '-qb', 'moved', 'main')
    await run('mv', 'a b.bin', 'c.bin')
    await run('commit', '-qm', 'Move')
    await expect(run('push', '-q', url(ann), 'moved:main')).rejects.toThrow(refused)
    await run('push', '-q', url(bob), 'moved')

    // By the API: a file, and a commit that removes it.
    const file = `/projects/${project.id}/repository/files/${encodeURIComponent('a b.bin')}`
    const change = { branch: 'main', content: '3', commit_message: 'Change' }
    expect(await ann.put(file, change)).toMatchObject({ status: 400, json: { message: refused } })
    expect(
      await ann.post(`/projects/${project.id}/repository/commits`, {
        branch: 'main',
        commit_message: 'Remove',
        actions: [{ action: 'delete', file_path: 'a b.bin' }],
      }),
    ).toMatchObject({ status: 400, json: { message: refused } })
    expect((await bob.put(file, { ...change, branch: 'work', start_branch: 'main' })).status).toBe(200)

    // Others go on with other files, and merge what the owner has pushed.
    await run('checkout', '-qb', 'mine', 'main')
    await commit({ other: '3' })
    await run('pull', '-q', '--no-rebase', '--no-edit', url(ann), 'work')
    await run('push', '-q', url(ann), 'mine:main')
    expect((await unlock(ann, project, id, true)).status).toBe(200)
    await run('push', '-q', url(ann), 'hidden')
  })

  test.for([
    ['anonymous', 'none', 401, 401],
    ['a stranger', 'none', 404, 404],
    ['a guest', 'guest', 404, 404],
    ['a reporter', 'reporter', 200, 403],
    ['a developer', 'developer', 200, 201],
    ['an owner', 'owner', 200, 201],
  ] as const)('LFS locks for %s (%s): list %d, create %d', async ([who, level, listed, made], { world }) => {
    const someone = who === 'anonymous' ? world.anonymous : await world.user()
    const group = await world.group({ members: level === 'none' ? [] : [[someone, level]] })
    const project = await world.project({ group })
    expect((await lfs(someone, project, 'GET', 'locks')).status).toBe(listed)
    expect((await lock(someone, project, 'x')).status).toBe(made)
  })

  test('one of 16 concurrent LFS locks of a file succeeds', async ({ world }) => {
    const project = await world.project()
    const tried = await Promise.all(Array.from({ length: 16 }, () => lock(world.root, project, 'x')))
    expect(tried.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(409)])
  })

  test.for(['', '/etc/passwd', '../x', 'a//b', 'a/./b', 'x\0y', `${'x'.repeat(2001)}`, '\ud800'])(
    '422 for an LFS lock of the path %j',
    async (path, { world }) => {
      const project = await world.project()
      expect((await lock(world.root, project, path)).status).toBe(422)
    },
  )

  test('422 for hostile parameters of LFS locks', async ({ world }) => {
    const project = await world.project()
    for (const query of ['?limit=x', '?cursor=-1', '?id=1e9', '?path=%00', '?limit=99999999999999999999'])
      expect((await lfs(world.root, project, 'GET', `locks${query}`)).status).toBe(422)
    expect((await list(world.root, project, '?limit=100000&path=%C3%28')).locks).toEqual([])
    for (const json of [{}, { path: 1 }, { path: ['x'] }, { path: 'x', ref: 1 }])
      expect((await lfs(world.root, project, 'POST', 'locks', { json })).status).toBe(422)
    for (const json of [{ cursor: {} }, { limit: 'x' }, { ref: { name: 1 } }])
      expect((await lfs(world.root, project, 'POST', 'locks/verify', { json })).status).toBe(422)
    expect((await unlock(world.root, project, 'x')).status).toBe(422)
    expect((await lfs(world.root, project, 'POST', 'locks/1/unlock', { json: { force: 'yes' } })).status).toBe(422)
  })
})
