import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'
import { afterPush, mergeStatusOf } from './testing.ts'

/** A merge request from a private project to the author's fork of it. */
async function toFork(world: World) {
  const [ann, dan] = [await world.user(), await world.user()]
  const source = await storedProject(world, {
    visibility: 'private',
    members: [
      [ann, 'developer'],
      [dan, 'maintainer'],
    ],
  })
  source.repository.commit({ a: 'a\n' })
  const fork = await forkOf(world, source, ann)
  const opened = await openMergeRequest(world, { project: fork, source, author: ann, branch: 'topic' })
  const more = (name: string): Oid =>
    source.repository.commit({ [name]: `${name}\n` }, { branch: 'topic', parents: [tip(source)] })
  return { ...opened, ann, dan, source, fork, more }
}

const tip = ({ repository }: StoredProject) => repository.git('rev-parse', 'topic') as Oid

const has = ({ repository }: StoredProject, oid: Oid): boolean => {
  try {
    repository.git('cat-file', '-e', oid)
    return true
  } catch {
    return false
  }
}

const remove = (world: World, source: StoredProject, who: Client) =>
  world.root.delete(`/projects/${source.id}/members/${who.id}`)

describe('merge requests whose author can no longer read the source project', () => {
  test('a push to the source branch is copied while the author can read the source', async ({ world }) => {
    const { source, fork, at, ann, more } = await toFork(world)
    const next = more('next')
    await afterPush(world, source)
    expect(has(fork, next)).toBe(true)
    expect((await ann.get(at)).json.sha).toBe(next)
  })

  test.for([
    ['was removed', (world: World, source: StoredProject, ann: Client) => remove(world, source, ann)],
    [
      'was reduced to guest',
      (world: World, source: StoredProject, ann: Client) =>
        world.root.put(`/projects/${source.id}/members/${ann.id}`, { access_level: 10 }),
    ],
  ] as const)('a push is not copied to the target once the author %s', async ([, revoke], { world }) => {
    const { source, fork, at, ann, id, head, more } = await toFork(world)
    await revoke(world, source, ann)
    const secret = more('secret')
    await afterPush(world, source)
    expect(has(fork, secret)).toBe(false)
    expect((await ann.get(at)).json).toMatchObject({ sha: head, state: 'opened' })
    expect(await mergeStatusOf(world, id)).toBe('cannot_be_merged_recheck')
    expect((await ann.get(`${at}/merge_ref`)).status).toBe(400)
    expect((await ann.put(`${at}/merge`)).status).toBe(405)
    expect((await ann.put(`${at}/rebase`)).status).toBe(403)
    expect(has(fork, secret)).toBe(false)
    await world.root.delete(`/projects/${source.id}/members/${ann.id}`)
    await world.root.post(`/projects/${source.id}/members`, { user_id: ann.id, access_level: 30 })
    expect((await ann.put(`${at}/merge`)).json).toMatchObject({ state: 'merged', sha: secret })
  })

  test('422 for reopening when the author can no longer read the source', async ({ world }) => {
    const { source, fork, at, ann, more } = await toFork(world)
    await ann.put(at, { state_event: 'close' })
    await remove(world, source, ann)
    const secret = more('secret')
    expect((await ann.put(at, { state_event: 'reopen' })).status).toBe(422)
    expect(has(fork, secret)).toBe(false)
    expect((await ann.get(at)).json).toMatchObject({ state: 'closed' })
  })

  test('the head stays when the target branch changes and the author cannot read the source', async ({ world }) => {
    const { source, fork, at, ann, head, more } = await toFork(world)
    fork.repository.git('branch', 'other', 'main')
    await remove(world, source, ann)
    const secret = more('secret')
    expect((await ann.put(at, { target_branch: 'other' })).json).toMatchObject({ target_branch: 'other', sha: head })
    expect(has(fork, secret)).toBe(false)
  })

  test('a merge request without new commits can be merged by an author without access', async ({ world }) => {
    const { source, at, ann, head } = await toFork(world)
    await remove(world, source, ann)
    await afterPush(world, source)
    expect((await ann.put(`${at}/merge`)).json).toMatchObject({ state: 'merged', sha: head })
  })

  test('a push is not copied when the blocked author owned the private source', async ({ world }) => {
    const { source, fork, ann, more } = await toFork(world)
    await world.root.post(`/users/${ann.id}/block`)
    const secret = more('secret')
    await afterPush(world, source)
    expect(has(fork, secret)).toBe(false)
  })
})

test('422 when a user who cannot read the source reopens a merge request', async ({ world }) => {
  const { source, fork, at, ann, more } = await toFork(world)
  const other = await world.user()
  await ann.post(`/projects/${fork.id}/members`, { user_id: other.id, access_level: 40 })
  await ann.put(at, { state_event: 'close' })
  const secret = more('secret')
  expect((await other.put(at, { state_event: 'reopen' })).status).toBe(422)
  expect(has(fork, secret)).toBe(false)
  expect((await ann.put(at, { state_event: 'reopen' })).json).toMatchObject({ state: 'opened', sha: tip(source) })
})
