import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { notesOfCommit, notesOfCommitsExceptOn, notesOfCommitsOn } from '../../../../test/tables/discussion.ts'
import { addClosedMergeRequests } from '../../../../test/tables/review.ts'
import { type Client, test } from '../../../../test/world.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { moveRefs } from '../../pushes/pushes/move-refs.ts'
import { commitTo, readTexts } from '../closing/testing.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'

const notesOf = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json.map(({ body }: { body: string }) => body)

const discussionsOf = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/discussions`)).json.map(({ notes }: { notes: { body: string }[] }) => notes[0]!.body)

describe('notes about mentions of a merge request', () => {
  test('a description and notes that name a merge request leave one note on it', async ({ world }) => {
    const named = await openMergeRequest(world)
    const other = await openMergeRequest(world, {
      project: named.project,
      branch: 'other',
      description: `As in !${named.iid}, not in \`!99\`. This is !2.`,
    })
    await readTexts(world)
    const expected = [`mentioned in merge request !${other.iid}`]
    expect(await notesOf(world.root, named.at)).toEqual(expected)
    await world.root.post(`${other.at}/notes`, {
      body: `${world.origin}/${named.project.full_path}/-/merge_requests/1`,
    })
    await world.root.put(other.at, { description: `Still !${named.iid}` })
    await readTexts(world)
    expect(await notesOf(world.root, named.at)).toEqual(expected)
    expect(await discussionsOf(world.root, named.at)).toEqual(expected)
    // Not on itself.
    expect(await notesOf(world.root, other.at)).not.toContain('mentioned in merge request !2')
  })

  test('a note of a merge request names one of another project by its path', async ({ world }) => {
    const [named, source] = [await openMergeRequest(world), await openMergeRequest(world)]
    await world.root.post(`${source.at}/notes`, { body: `See ${named.project.full_path.toUpperCase()}!${named.iid}` })
    await readTexts(world)
    expect(await notesOf(world.root, named.at)).toEqual([
      `mentioned in merge request ${source.project.full_path}!${source.iid}`,
    ])
  })

  test('commits that are pushed to any branch are named once each', async ({ world }) => {
    const { project, at, iid } = await openMergeRequest(world)
    const sha = await commitTo(world, project.id, 'side', `Part of !${iid}\n\nand !${iid}`)
    await readTexts(world)
    expect(await notesOf(world.root, at)).toEqual([`mentioned in commit ${sha}`])
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'again', ref: 'side' })
    await readTexts(world)
    expect(await notesOf(world.root, at)).toEqual([`mentioned in commit ${sha}`])
  })

  test('a note is hidden from users who cannot read its source at the time of reading', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const named = await openMergeRequest(world)
    const source = await openMergeRequest(world, { visibility: 'private', members: [[ann, 'reporter']] })
    const path = named.project.full_path
    await world.root.put(source.at, { description: `See ${path}!1` })
    const sha = await commitTo(world, source.project.id, 'secret', `See ${path}!1`)
    await readTexts(world)
    const bodies = [
      `mentioned in merge request ${source.project.full_path}!1`,
      `mentioned in commit ${source.project.full_path}@${sha}`,
    ]
    expect((await notesOf(ann, named.at)).toSorted()).toEqual(bodies.toSorted())
    expect(await notesOf(bob, named.at)).toEqual([])
    expect(await discussionsOf(bob, named.at)).toEqual([])
    const [{ id, discussion }] = await notesOfCommit(world, sha)
    expect((await ann.get(`${named.at}/notes/${id}`)).status).toBe(200)
    for (const hidden of [`notes/${id}`, `discussions/${discussion}`, `notes/${id}/award_emoji`])
      expect((await bob.get(`${named.at}/${hidden}`)).status).toBe(404)
    await world.root.delete(`/projects/${source.project.id}/members/${ann.id}`)
    expect(await notesOf(ann, named.at)).toEqual([])
    await world.root.post(`/projects/${source.project.id}/members`, { user_id: bob.id, access_level: 20 })
    expect(await notesOf(bob, named.at)).toHaveLength(2)
  })

  test('the author must be able to read the merge request that a text names', async ({ world }) => {
    const ann = await world.user()
    const named = await openMergeRequest(world, { visibility: 'private' })
    const source = await openMergeRequest(world)
    await ann.post(`${source.at}/notes`, { body: `${named.project.full_path}!1` })
    await readTexts(world)
    expect(await notesOf(world.root, named.at)).toEqual([])
  })

  test('notes end with their source', async ({ world }) => {
    const named = await openMergeRequest(world)
    const source = await openMergeRequest(world, { description: `${named.project.full_path}!1` })
    await readTexts(world)
    expect(await notesOf(world.root, named.at)).toHaveLength(1)
    await world.root.delete(source.at)
    expect(await notesOf(world.root, named.at)).toEqual([])
  })

  test('commits that a fork has from its source are not named again', async ({ world }) => {
    const ann = await world.user()
    const { project, at } = await openMergeRequest(world)
    const sha = await commitTo(world, project.id, 'main', 'See !1')
    await readTexts(world)
    const fork = await forkOf(world, project, ann)
    await ann.post(`/projects/${fork.id}/repository/branches`, { branch: 'copy', ref: sha })
    const own = await ann.post(`/projects/${fork.id}/repository/commits`, {
      branch: 'copy',
      commit_message: `See ${project.full_path}!1`,
      actions: [{ action: 'create', file_path: 'mine', content: 'x' }],
    })
    await readTexts(world)
    expect(await notesOf(world.root, at)).toEqual([
      `mentioned in commit ${sha}`,
      `mentioned in commit ${fork.full_path}@${own.json.id}`,
    ])
  })

  test('one text adds at most a hundred notes, and one push names those of at most a hundred commits', async ({
    world,
  }) => {
    const { project, id, head } = await openMergeRequest(world)
    await addClosedMergeRequests(world, project.id, 2, 130)
    const all = Array.from({ length: 10_000 }, (_, index) => `!${index + 1}`).join(' ')
    const git = project.repository
    let parent = head
    for (let n = 0; n < 110; n++)
      parent = git.commit(
        { n: `${n}` },
        { branch: 'long', parents: [parent], message: n === 0 ? all : `See !1 (${n})` },
      )
    git.git('update-ref', '-d', 'refs/heads/long')
    const ctx = await contextFor(world, world.root)
    await moveRefs(ctx, project.id, git.repo, [{ name: 'refs/heads/long' as RefName, from: null, to: parent }])
    await readTexts(world)
    expect(await notesOfCommitsOn(world, id)).toHaveLength(100)
    await commitTo(world, project.id, 'wide', all)
    await readTexts(world)
    expect(await notesOfCommitsExceptOn(world, project.id, id)).toHaveLength(99)
  })
})
