import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { loadProject } from '../../projects/index.ts'
import { duringMove, hostileRefs, storedProject } from '../commits/testing.ts'
import { endReleaseOfDeletedTag } from '../releases/jobs.ts'
import { deleteTag } from './service.ts'

const tagsOf = (id: number) => `/projects/${id}/repository/tags`
const at = (id: number, name: string) => `${tagsOf(id)}/${encodeURIComponent(name)}`

describe('POST tags', () => {
  test('a lightweight tag is a ref', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    const oid = repository.commit({ a: '1' })
    const made = await ann.post(tagsOf(id), { tag_name: 'v/1', ref: 'main' })
    expect(made).toMatchObject({
      status: 201,
      json: { name: 'v/1', message: null, target: oid, commit: { id: oid }, release: null, protected: false },
    })
    expect(repository.git('cat-file', '-t', 'refs/tags/v/1')).toBe('commit')
    expect((await ann.get(at(id, 'v/1'))).json).toEqual(made.json)
    expect(await ann.head(at(id, 'v/1'))).toMatchObject({ status: 200, text: '' })
  })

  test('a tag with a message is an annotated tag that passes git fsck', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user({ name: 'Änn <Example>\n' })
    const { id, full_path, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    const oid = repository.commit({ a: '1' })
    const made = await ann.post(tagsOf(id), { tag_name: 'v1', ref: oid, message: 'First line\n\nBödy' })
    expect(made).toMatchObject({ status: 201, json: { message: 'First line\n\nBödy', commit: { id: oid } } })
    expect(made.json.target).toBe(repository.git('rev-parse', 'refs/tags/v1'))
    expect(made.json.target).not.toBe(oid)
    expect(
      repository.git('for-each-ref', '--format=%(objecttype) %(*objectname) %(taggeremail) %(subject)', 'refs/tags'),
    ).toBe(`tag ${oid} <${ann.username}@example.com> First line`)
    expect(repository.git('fsck', '--strict')).not.toMatch(/error/)
    await git(
      folder.path,
      'clone',
      '-q',
      world.remote({ url: `${world.origin}/${full_path}.git` } as never, ann),
      'copy',
    )
    expect(await git(`${folder.path}/copy`, 'tag', '-n1')).toMatch(/^v1\s+First line$/)
    expect((await ann.get(at(id, 'v1'))).json).toEqual(made.json)
  })

  test.for([
    [{ tag_name: 'v1', ref: 'main' }, 400, { message: 'Tag v1 already exists' }],
    [{ tag_name: 'v2', ref: 'nothing' }, 400, { message: 'Target nothing is invalid' }],
    [{ tag_name: 'a b', ref: 'main' }, 400, { message: 'Tag name invalid' }],
    [{ tag_name: '-x', ref: 'main' }, 400, { message: 'Tag name invalid' }],
    [{}, 400, { error: 'tag_name is missing, ref is missing' }],
    [{ tag_name: 'v2', ref: '' }, 400, { error: 'ref is empty' }],
    [
      { tag_name: 'v1/x', ref: 'main' },
      400,
      { message: 'The reference refs/tags/v1/x cannot be created while refs/tags/v1 exists' },
    ],
  ] as const)('creating a tag with %j is a %i', async ([input, status, json], { world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    repository.git('update-ref', 'refs/tags/v1', 'main')
    expect(await world.root.post(tagsOf(id), input)).toMatchObject({ status, json })
  })

  test('one of eight concurrent creations of the same tag succeeds', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        world.root.post(tagsOf(id), { tag_name: 'v1', ref: 'main', message: `By ${n}` }),
      ),
    )
    const [winner, ...others] = all.filter(({ status }) => status === 201)
    expect(others).toEqual([])
    expect(repository.git('rev-parse', 'refs/tags/v1')).toBe(winner!.json.target)
  })

  test('hostile names of tags create no ref and cause no 500', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    for (const name of hostileRefs) {
      expect((await world.root.post(tagsOf(id), { tag_name: 'new', ref: name })).status, name).toBe(400)
      const made = await world.root.post(tagsOf(id), { tag_name: name, ref: 'main', message: name })
      expect([201, 400], `${name}: ${made.text}`).toContain(made.status)
      for (const got of [
        await world.root.get(at(id, name)),
        await world.root.post(`${at(id, name)}/release`, { description: name }),
        await world.root.put(`${at(id, name)}/release`, { description: name }),
        await world.root.delete(at(id, name)),
      ])
        expect(got.status, `${name}: ${got.text}`).toBeLessThan(500)
    }
    expect(repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
  })
})

describe('GET tags', () => {
  test.for([
    ['', ['v1.10', 'v1.9', 'beta'], 'newest first'],
    ['?sort=asc', ['beta', 'v1.9', 'v1.10'], 'oldest first'],
    ['?order_by=name&sort=asc', ['beta', 'v1.10', 'v1.9'], 'by name'],
    ['?order_by=name', ['v1.9', 'v1.10', 'beta'], 'by name, descending'],
    ['?order_by=version', ['v1.10', 'v1.9', 'beta'], 'by version'],
    ['?search=^v', ['v1.10', 'v1.9'], 'by prefix'],
    ['?search=9$', ['v1.9'], 'by suffix'],
    ['?search=ET', ['beta'], 'by part'],
    ['?order_by=name&sort=asc&per_page=2&page=2', ['v1.9'], 'a page'],
  ] as const)('tags%s lists %s: %s', async ([query, names], { world }) => {
    const { id, repository } = await storedProject(world)
    for (const tag of ['beta', 'v1.9', 'v1.10']) {
      repository.commit({ a: tag })
      repository.git('update-ref', `refs/tags/${tag}`, 'main')
    }
    const got = await world.root.get(tagsOf(id) + query)
    expect(got.json.map(({ name }: { name: string }) => name)).toEqual(names)
    if (query === '') expect(got.headers['x-total']).toBe('3')
  })

  test('keyset pages list all tags once', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    for (let n = 0; n < 5; n++) repository.git('update-ref', `refs/tags/t${n}`, 'main')
    const seen: string[] = []
    let path: string | undefined = `${tagsOf(id)}?pagination=keyset&per_page=2&order_by=name&sort=desc`
    while (path) {
      const got = await world.root.get(path)
      seen.push(...got.json.map(({ name }: { name: string }) => name))
      path = /<([^>]+)>; rel="next"/.exec(got.headers['link'] ?? '')?.[1]?.split('/api/v4')[1]
    }
    expect(seen).toEqual(['t4', 't3', 't2', 't1', 't0'])
  })

  test('tags of tags, of trees and of blobs are shown', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const oid = repository.commit({ a: '1' })
    repository.git('tag', '-a', '-m', 'Inner', 'inner', 'main')
    repository.git('tag', '-a', '-m', 'Outer', 'outer', 'inner')
    repository.git('tag', 'tree', 'main^{tree}')
    repository.git('tag', '-a', '-m', 'A file', 'file', 'main:a')
    const found = Object.fromEntries(
      (await world.root.get(tagsOf(id))).json.map((tag: { name: string }) => [tag.name, tag]),
    )
    expect(found).toMatchObject({
      inner: { message: 'Inner', commit: { id: oid } },
      outer: { message: 'Outer', commit: { id: oid } },
      tree: { message: null, commit: null },
      file: { message: 'A file', commit: null },
    })
    for (const name of Object.keys(found)) expect((await world.root.get(at(id, name))).json).toEqual(found[name])
  })
})

describe('release notes of tags', () => {
  test('release notes of a tag are created, changed and deleted with the tag', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    repository.commit({ a: '1' })
    const notes = `${at(id, 'v1')}/release`
    expect(await ann.post(notes, { description: 'x' })).toMatchObject({
      status: 404,
      json: { message: '404 Tag Not Found' },
    })
    await ann.post(tagsOf(id), { tag_name: 'v1', ref: 'main' })
    expect(await ann.put(notes, { description: 'x' })).toMatchObject({
      status: 404,
      json: { message: '404 Release Not Found' },
    })
    expect(await ann.post(notes)).toMatchObject({ status: 400, json: { error: 'description is missing' } })
    expect(await ann.post(notes, { description: 'First' })).toMatchObject({
      status: 201,
      json: { tag_name: 'v1', description: 'First' },
    })
    expect(await ann.post(notes, { description: 'Again' })).toMatchObject({
      status: 409,
      json: { message: 'Release already exists' },
    })
    expect(await ann.put(notes, { description: 'Second' })).toMatchObject({
      status: 200,
      json: { description: 'Second' },
    })
    expect((await ann.get(tagsOf(id))).json).toMatchObject([{ release: { tag_name: 'v1', description: 'Second' } }])
    expect((await ann.delete(at(id, 'v1'))).status).toBe(204)
    await ann.post(tagsOf(id), { tag_name: 'v1', ref: 'main' })
    expect((await ann.get(at(id, 'v1'))).json).toMatchObject({ release: null })
  })

  test('release notes can be created with the tag', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const made = await world.root.post(tagsOf(id), { tag_name: 'v1', ref: 'main', release_description: 'Notes' })
    expect(made.json.release).toEqual({ tag_name: 'v1', description: 'Notes' })
  })
})

describe('DELETE tags', () => {
  test('a tag that moves during its deletion is deleted', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' })
    repository.commit({ a: '2' })
    repository.git('update-ref', 'refs/tags/v1', first)
    const deletion = await duringMove(
      world,
      id,
      () => world.root.delete(at(id, 'v1')),
      () => repository.git('update-ref', 'refs/tags/v1', 'main'),
    )
    expect(deletion).toMatchObject({ status: 204, text: '' })
    expect(repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
  })

  test('412 when a tag moves to a newer commit than If-Unmodified-Since during its deletion', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' }, { seconds: 1_600_000_000 })
    repository.commit({ a: '2' }, { seconds: 1_600_000_001 })
    repository.git('update-ref', 'refs/tags/v1', first)
    const headers = { 'if-unmodified-since': new Date(1_600_000_000_000).toUTCString() }
    const deletion = await duringMove(
      world,
      id,
      () => world.root.delete(at(id, 'v1'), { headers }),
      () => repository.git('update-ref', 'refs/tags/v1', 'main'),
    )
    expect(deletion).toMatchObject({ status: 412 })
    expect(repository.git('rev-parse', 'refs/tags/v1')).toBe(repository.git('rev-parse', 'main'))
  })

  test('deleting a tag deletes its ref, and is a 412 when the tag is newer', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' }, { seconds: 1_600_000_000 })
    repository.git('update-ref', 'refs/tags/v1', 'main')
    const since = (seconds: number) => ({ headers: { 'if-unmodified-since': new Date(seconds * 1000).toUTCString() } })
    expect((await world.root.delete(at(id, 'v1'), since(1_599_999_999))).status).toBe(412)
    expect((await world.root.delete(at(id, 'v1'), since(1_600_000_000))).status).toBe(204)
    expect(await world.root.delete(at(id, 'v1'))).toMatchObject({ status: 404, json: { message: '404 Tag Not Found' } })
  })

  test.for([
    { level: 'guest', read: 403, write: 403 },
    { level: 'reporter', read: 200, write: 403 },
    { level: 'developer', read: 200, write: 201 },
    { level: 'maintainer', read: 200, write: 201 },
  ] as const)('tags for a $level: read $read, write $write', async ({ level, read, write }, { world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { visibility: 'private', members: [[ann, level]] })
    repository.commit({ a: '1' })
    repository.git('update-ref', 'refs/tags/v1', 'main')
    expect((await ann.get(tagsOf(id))).status).toBe(read)
    expect((await ann.get(at(id, 'v1'))).status).toBe(read)
    expect((await ann.post(tagsOf(id), { tag_name: 'v2', ref: 'main' })).status).toBe(write)
    expect((await ann.post(`${at(id, 'v1')}/release`, { description: 'x' })).status).toBe(write)
    expect((await ann.delete(at(id, 'v1'))).status).toBe(write === 201 ? 204 : write)
  })

  test('tags of an archived project are read-only', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    repository.git('update-ref', 'refs/tags/v1', 'main')
    await world.archive({ id } as never)
    expect((await world.root.get(tagsOf(id))).json).toHaveLength(1)
    expect((await world.root.post(tagsOf(id), { tag_name: 'v2', ref: 'main' })).status).toBe(403)
    expect((await world.root.delete(at(id, 'v1'))).status).toBe(403)
    expect((await world.root.post(`${at(id, 'v1')}/release`, { description: 'x' })).status).toBe(403)
  })
})

describe('a crash while a tag with release notes is deleted', () => {
  /** A tag with release notes, and a request to delete it that dies, before or after the tag is gone. Then the service starts again. */
  async function dying(world: World, when: 'before' | 'after') {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'maintainer']] })
    repository.commit({ a: '1' })
    await ann.post(tagsOf(id), { tag_name: 'v1', ref: 'main', release_description: 'First' })
    const ctx = await contextFor(world, ann)
    const project = (await loadProject(String(id), ctx))!
    const killed = async () => {
      throw new Error('killed')
    }
    const transaction: Ctx['transaction'] = (work) =>
      repository.git('tag', '-l') === '' ? killed() : ctx.transaction(work)
    const deletion = deleteTag({ ...ctx, transaction }, project, 'v1', when === 'before' ? killed : async () => {})
    await expect(deletion).rejects.toThrow('killed')
    await world.recover()
    // Clients repeat a request that got no answer.
    if (when === 'after') expect((await ann.delete(at(id, 'v1'))).status).toBe(404)
    const [queued] = await world.takeJobs('end_release_of_deleted_tag:%')
    await endReleaseOfDeletedTag.run(queued!.payload, await contextFor(world, null))
    return {
      tags: repository.git('tag', '-l'),
      releases: (await ann.get(`/projects/${id}/releases`)).json.map(({ tag_name }: any) => tag_name),
      events: await eventsOf(world, { project: id, kind: 'release_deleted' }, 'actor_id'),
      ann,
    }
  }

  test('after the tag is gone, a job deletes its release notes', async ({ world }) => {
    const { ann, ...left } = await dying(world, 'after')
    expect(left).toEqual({ tags: '', releases: [], events: [{ actor_id: ann.id }] })
  })

  test('before the tag is gone, both remain', async ({ world }) => {
    expect(await dying(world, 'before')).toMatchObject({ tags: 'v1', releases: ['v1'], events: [] })
  })

  test('no job remains without a crash, also if the deletion is refused', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    await world.root.post(tagsOf(id), { tag_name: 'v1', ref: 'main', release_description: 'First' })
    await world.root.post(`/projects/${id}/protected_tags`, { name: 'v1', create_access_level: 0 })
    expect((await world.root.delete(at(id, 'v1'))).status).toBe(400)
    expect(await world.jobs('end_release_of_deleted_tag:%')).toEqual([])
    await world.root.delete(`/projects/${id}/protected_tags/v1`)
    expect((await world.root.delete(at(id, 'v1'))).status).toBe(204)
    expect(await world.jobs('end_release_of_deleted_tag:%')).toEqual([])
  })
})
