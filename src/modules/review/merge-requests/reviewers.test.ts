import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from './testing.ts'

const named = ({ json }: { json: any }) => json.reviewers.map(({ username }: { username: string }) => username)

describe('reviewers of merge requests', () => {
  test('reviewer_ids sets users who can read the merge request, on creation and on update', async ({ world }) => {
    const [ann, bob, stranger] = [await world.user(), await world.user(), await world.user()]
    const { at, record } = await openMergeRequest(world, {
      visibility: 'private',
      members: [
        [ann, 'reporter'],
        [bob, 'developer'],
      ],
      reviewer_ids: [ann.id, stranger.id],
    })
    expect(named({ json: record })).toEqual([ann.username])
    expect(named(await world.root.put(at, { reviewer_ids: [bob.id] }))).toEqual([bob.username])
    const bodies = (await world.root.get(`${at}/notes?sort=asc`)).json.map(({ body }: { body: string }) => body)
    expect(bodies).toContain(`requested review from @${bob.username} and removed review request for @${ann.username}`)
    expect(named(await world.root.put(at, { reviewer_ids: [] }))).toEqual([])
  })

  test('a reviewer gets a todo and participates', async ({ world }) => {
    const ann = await world.user()
    const { id, at } = await openMergeRequest(world, { members: [[ann, 'developer']], reviewer_ids: [ann.id] })
    expect((await ann.get('/todos')).json).toMatchObject([{ action_name: 'review_requested', target: { id } }])
    expect((await ann.get('/todos?action=review_requested')).json).toHaveLength(1)
    expect((await ann.get(`${at}/participants`)).json).toMatchObject([{ id: world.root.id }, { id: ann.id }])
    expect((await ann.get(at)).json.subscribed).toBe(true)
  })

  test('reviewers are ignored from a caller who cannot push to the target', async ({ world }) => {
    const [author, ann] = [await world.user(), await world.user()]
    const project = await storedProject(world, { members: [[ann, 'developer']] })
    project.repository.commit({ a: 'a\n' })
    const source = await forkOf(world, project, author)
    const { at, record } = await openMergeRequest(world, { project, source, author, reviewer_ids: [ann.id] })
    expect(named({ json: record })).toEqual([])
    expect(named(await author.put(at, { reviewer_ids: [ann.id], title: 'y' }))).toEqual([])
  })

  test('lists are filtered by reviewer_id and reviewer_username, None and Any', async ({ world }) => {
    const ann = await world.user()
    const { project, iid: first } = await openMergeRequest(world, {
      members: [[ann, 'developer']],
      reviewer_ids: [1],
    })
    const { iid: second } = await openMergeRequest(world, { project, branch: 'two', reviewer_ids: [ann.id] })
    const { iid: third } = await openMergeRequest(world, { project, branch: 'three' })
    for (const [query, expected] of [
      [`reviewer_id=${ann.id}`, [second]],
      [`reviewer_username=${ann.username}`, [second]],
      ['reviewer_id=Any', [second, first]],
      ['reviewer_id=None', [third]],
      ['reviewer_id=0', [third]],
    ] as const) {
      const { json } = await world.root.get(`/projects/${project.id}/merge_requests?${query}`)
      expect(
        json.map(({ iid }: { iid: number }) => iid),
        query,
      ).toEqual(expected)
    }
    expect((await world.root.get('/merge_requests?reviewer_id=1&reviewer_username=x')).status).toBe(400)
  })
})
