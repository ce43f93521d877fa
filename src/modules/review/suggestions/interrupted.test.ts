import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { ageSuggestionCommits, suggestionCommitsOf } from '../../../../test/tables/review.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { recordIntent } from '../../pushes/pushes/journal.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { lockMergeRequest } from '../merge-requests/queries.ts'
import { forkOf, type OpenedMergeRequest } from '../merge-requests/testing.ts'
import { afterPush, pushed } from '../merging/testing.ts'
import { intendCommit, type SuggestionCommit } from '../suggestion-commits/queries.ts'
import { settleCutOffSuggestions } from '../suggestion-commits/settle.ts'
import { applyBatch } from './service.ts'
import { apply, block, lastCommit, opened, suggest, textOf } from './testing.ts'

/** The context of a process that ends at the start of this transaction of its request: 1 for the first. */
function endingAt(ctx: Ctx, transaction: number): Ctx {
  let begun = 0
  const ended = () => Promise.reject(new Error('the process has ended'))
  const db = new Proxy(ctx.db, {
    get: (target, name) => (begun < transaction ? Reflect.get(target, name) : ended),
  })
  return { ...ctx, db, transaction: (work) => (++begun < transaction ? ctx.transaction(work) : ended()) }
}

/** Where the process of a request that applies suggestions ends: at which of its transactions. */
const ends = { 'before its push is settled': 1, 'after its push': 2 } as const

/** Suggestions in two discussions, which a user applied as one commit, but whose process ended. */
async function interrupted(
  world: World,
  { at = 'after its push', bob, request }: { at?: keyof typeof ends; bob: Client; request: OpenedMergeRequest },
) {
  const notes = [
    await suggest(world.root, request, 1, block('EINS')),
    await suggest(world.root, request, 3, block('DREI')),
  ]
  const ids: number[] = notes.map(({ suggestions }) => suggestions[0].id)
  await expect(applyBatch(endingAt(await contextFor(world, bob), ends[at]), ids, undefined)).rejects.toThrow(
    'has ended',
  )
  const source = { id: request.record.source_project_id as number }
  expect(await textOf(bob, source)).toBe('EINS\ntwo\nDREI\n')
  const commit: Oid = (await lastCommit(bob, source)).id
  expect(await suggestionCommitsOf(world, request.id)).toEqual([{ commit_oid: commit }])
  return { request, bob, notes, ids, commit }
}
type Interrupted = Awaited<ReturnType<typeof interrupted>>

/** The same by a developer. */
async function interruptedDeveloper(world: World, at?: keyof typeof ends): Promise<Interrupted> {
  const bob = await world.user()
  const request = await opened(world, 'one\ntwo\nthree\n', { members: [[bob, 'developer']] as [Client, Level][] })
  return interrupted(world, { ...(at && { at }), bob, request })
}

const settleCutOff = async (world: World) => settleCutOffSuggestions.run({}, await contextFor(world, null))

const recordsOf = async (world: World, { request, notes }: Pick<Interrupted, 'request' | 'notes'>): Promise<any[]> =>
  Promise.all(notes.map(async ({ id }) => (await world.root.get(`${request.at}/notes/${id}`)).json))

const appliedEvents = (world: World, { id }: OpenedMergeRequest) =>
  eventsOf(world, { kind: 'suggestion_applied', payload: { merge_request_id: id } }, 'actor_id', 'payload')

/** Expects that the suggestions are applied once, by the user and the commit, and that nothing is left to settle. */
async function expectApplied(
  world: World,
  made: Interrupted,
  { resolved = true, actorId = made.bob.id as number | null } = {},
) {
  const { request, bob, notes, ids, commit } = made
  for (const [index, { id, suggestions, ...note }] of (await recordsOf(world, made)).entries()) {
    expect(suggestions).toMatchObject([{ id: ids[index], applied: true, appliable: false }])
    expect(note).toMatchObject(resolved ? { resolved, resolved_by: { username: bob.username } } : { resolved })
    expect(id).toBe(notes[index]!.id)
  }
  expect(await appliedEvents(world, request)).toEqual(
    notes.map(({ id }, index) => ({
      actor_id: actorId,
      payload: { merge_request_id: request.id, iid: request.iid, suggestion_id: ids[index], note_id: id, commit },
    })),
  )
  const about = { project: request.project.id, kind: 'discussion_resolved' }
  expect(await eventsOf(world, about, 'actor_id')).toEqual(resolved ? notes.map(() => ({ actor_id: actorId })) : [])
  expect(await suggestionCommitsOf(world, request.id)).toEqual([])
}

describe('suggestions whose process ended after their commit was on the branch', () => {
  test.for(['before its push is settled', 'after its push'] as const)(
    'are applied once by the job after the push, if the process ended %s',
    async (at, { world }) => {
      const made = await interruptedDeveloper(world, at)
      expect((await recordsOf(world, made)).map(({ suggestions }) => suggestions[0].applied)).toEqual([false, false])
      await world.recover()
      for (let n = 0; n < 2; n++) await afterPush(world, made.request.project)
      expect((await world.root.get(made.request.at)).json.sha).toBe(made.commit)
      await expectApplied(world, made)
    },
  )

  test('are applied once by several jobs at the same time', async ({ world }) => {
    const made = await interruptedDeveloper(world)
    await ageSuggestionCommits(world, made.request.id)
    const jobs = [afterPush(world, made.request.project), afterPush(world, made.request.project)]
    await Promise.all([...jobs, settleCutOff(world), settleCutOff(world)])
    await expectApplied(world, made)
  })

  test('are applied by the job of each minute if the merge request was closed', async ({ world }) => {
    const made = await interruptedDeveloper(world)
    await world.root.put(made.request.at, { state_event: 'close' })
    await afterPush(world, made.request.project)
    await ageSuggestionCommits(world, made.request.id)
    for (let n = 0; n < 2; n++) await settleCutOff(world)
    await expectApplied(world, made)
  })

  test('are applied by the job after a forced push that removed their commit', async ({ world }) => {
    const made = await interruptedDeveloper(world)
    const { project, branch, base } = made.request
    const other = project.repository.commit({ b: 'other\n' }, { branch: 'scratch', parents: [base] })
    await pushed(await contextFor(world, world.root), project, branch, made.commit, other)
    await afterPush(world, project)
    expect((await world.root.get(made.request.at)).json.sha).toBe(other)
    await expectApplied(world, made)
  })

  test('are applied by the job of each minute if a forced push has restored the head before them', async ({
    world,
  }) => {
    const made = await interruptedDeveloper(world)
    const { project, branch, head } = made.request
    await pushed(await contextFor(world, world.root), project, branch, made.commit, head)
    await afterPush(world, project)
    await ageSuggestionCommits(world, made.request.id)
    await settleCutOff(world)
    await expectApplied(world, made)
  })

  test.for([
    ['', []],
    [', also of a merge request that was reopened since', ['close', 'reopen']],
  ] as const)('are not applied again by a request before their push is settled%s', async ([, events], { world }) => {
    const request = await opened(world, 'one\n')
    const note = await suggest(world.root, request, 1, block('one\nnew'))
    const [{ id }] = note.suggestions
    const ending = endingAt(await contextFor(world, world.root), ends['before its push is settled'])
    await expect(applyBatch(ending, [id], undefined)).rejects.toThrow('has ended')
    for (const state_event of events) await world.root.put(request.at, { state_event })
    expect((await apply(world.root, id)).status).toBe(400)
    await world.recover()
    await afterPush(world, request.project)
    expect(await textOf(world.root, request.project)).toBe('one\nnew\n')
    expect(await appliedEvents(world, request)).toHaveLength(1)
  })

  test('are applied before their merge request is merged by its next user', async ({ world }) => {
    const made = await interruptedDeveloper(world)
    await world.root.put(`/projects/${made.request.project.id}`, {
      only_allow_merge_if_all_discussions_are_resolved: true,
    })
    expect((await world.root.put(`${made.request.at}/merge`)).json).toMatchObject({ state: 'merged', sha: made.commit })
    await expectApplied(world, made)
  })

  test('are applied without resolving their discussions if the user may not resolve them', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const source = await forkOf(world, project, ann)
    const request = await opened(world, 'one\ntwo\nthree\n', { project, source })
    const made = await interrupted(world, { bob: ann, request })
    await afterPush(world, source)
    await expectApplied(world, made, { resolved: false })
  })

  test('are applied without a user if the account of the user was deleted', async ({ world }) => {
    const made = await interruptedDeveloper(world)
    expect((await world.root.delete(`/users/${made.bob.id}?hard_delete=true`)).status).toBe(204)
    await removeUser.run({ userId: made.bob.id, hard: true }, await contextFor(world, null))
    await afterPush(world, made.request.project)
    await expectApplied(world, made, { resolved: false, actorId: null })
  })

  test('are not applied any more, but the others of the commit are, if the text of their note was changed', async ({
    world,
  }) => {
    const { request, notes, ...made } = await interruptedDeveloper(world)
    await world.root.put(`${request.at}/notes/${notes[0].id}`, { body: block('1') })
    await afterPush(world, request.project)
    const [changed, other] = await recordsOf(world, { request, notes })
    expect(changed).toMatchObject({ resolved: false, suggestions: [{ applied: false }] })
    expect(other).toMatchObject({ resolved: true, suggestions: [{ applied: true }] })
    expect(await appliedEvents(world, request)).toMatchObject([{ payload: { suggestion_id: made.ids[1] } }])
  })
})

test('a suggestion is applied once if its request and the job after its push record it at the same time', async ({
  world,
}) => {
  const request = await opened(world, 'one\n')
  const note = await suggest(world.root, request, 1, block('EINS'))
  let job: Promise<void> | undefined
  const applying = await world.db.transaction(async (tx) => {
    await lockMergeRequest(tx, request.id)
    const answer = apply(world.root, note.suggestions[0].id)
    await world.waitsForLock(1)
    job = afterPush(world, request.project)
    await world.waitsForLock(2)
    return { answer }
  })
  expect(await applying.answer).toMatchObject({ status: 200, json: { applied: true } })
  await job
  expect(await appliedEvents(world, request)).toHaveLength(1)
  expect(await eventsOf(world, { project: request.project.id, kind: 'discussion_resolved' })).toHaveLength(1)
  expect(await suggestionCommitsOf(world, request.id)).toEqual([])
})

test('a suggestion is applied by its request if the first attempt to record it fails', async ({ world }) => {
  const request = await opened(world, 'one\n')
  const note = await suggest(world.root, request, 1, block('EINS'))
  const ctx = await contextFor(world, world.root)
  let begun = 0
  const failing: Ctx = {
    ...ctx,
    // The first completes the push.
    transaction: (work) =>
      ++begun === 2 ? Promise.reject(new Error('the connection was lost')) : ctx.transaction(work),
  }
  await applyBatch(failing, [note.suggestions[0].id], undefined)
  expect(begun).toBeGreaterThan(2)
  expect(await appliedEvents(world, request)).toHaveLength(1)
  expect(await suggestionCommitsOf(world, request.id)).toEqual([])
})

/** What an attempt stored whose process ended before the branch moved. */
async function cutOff(world: World) {
  const request = await opened(world, 'one\n')
  const note = await suggest(world.root, request, 1, block('EINS'))
  const [{ id }] = note.suggestions
  const ctx = await contextFor(world, world.root)
  const commit: SuggestionCommit = {
    token: randomUUID(),
    merge_request_id: request.id,
    commit_oid: '1'.repeat(40) as Oid,
    suggestion_ids: [id],
    user_id: world.root.id,
    resolves: true,
  }
  await intendCommit(ctx.db, commit)
  const applied = async () => (await world.root.get(`${request.at}/notes/${note.id}`)).json.suggestions[0].applied
  return { ctx, request, id: id as number, commit, applied, left: () => suggestionCommitsOf(world, request.id) }
}

describe('suggestions whose commit never was on the branch', () => {
  test('leave nothing behind if the push is refused', async ({ world }) => {
    const request = await opened(world, 'one\n')
    const note = await suggest(world.root, request, 1, block('EINS'))
    await world.root.post(`/projects/${request.project.id}/push_rule`, { commit_message_regex: '^JIRA-' })
    expect((await apply(world.root, note.suggestions[0].id)).status).toBe(400)
    expect(await suggestionCommitsOf(world, request.id)).toEqual([])
    const message = { commit_message: 'JIRA-1' }
    expect((await apply(world.root, note.suggestions[0].id, message)).json).toMatchObject({ applied: true })
    expect(await suggestionCommitsOf(world, request.id)).toEqual([])
  })

  test('are forgotten by the job of each minute once no request can still commit them', async ({ world }) => {
    const { request, applied, left } = await cutOff(world)
    await settleCutOff(world)
    expect(await left()).toHaveLength(1)
    await ageSuggestionCommits(world, request.id)
    await settleCutOff(world)
    expect([await left(), await applied()]).toEqual([[], false])
  })

  test('are kept while a push of their commit is not settled', async ({ world }) => {
    const { ctx, request, commit, applied, left } = await cutOff(world)
    await recordIntent(
      ctx,
      {
        ...{ projectId: request.project.id, actorId: world.root.id, transport: 'api', options: [] },
        changes: [{ name: 'refs/heads/topic' as RefName, from: request.head, to: commit.commit_oid }],
      },
      async () => {},
    )
    await ageSuggestionCommits(world, request.id)
    await settleCutOff(world)
    expect(await left()).toHaveLength(1)
    await world.recover()
    await settleCutOff(world)
    expect([await left(), await applied()]).toEqual([[], false])
  })

  test('can be applied by another request, and are applied by it only', async ({ world }) => {
    const { request, id, applied } = await cutOff(world)
    expect((await apply(world.root, id)).json).toMatchObject({ applied: true })
    await afterPush(world, request.project)
    await ageSuggestionCommits(world, request.id)
    await settleCutOff(world)
    expect(await applied()).toBe(true)
    expect(await appliedEvents(world, request)).toHaveLength(1)
    expect(await suggestionCommitsOf(world, request.id)).toEqual([])
  })

  test('are stored once for all commits that an attempt makes', async ({ world }) => {
    const { ctx, commit, left } = await cutOff(world)
    const next = '2'.repeat(40) as Oid
    await intendCommit(ctx.db, { ...commit, commit_oid: next })
    expect(await left()).toEqual([{ commit_oid: next }])
  })
})
