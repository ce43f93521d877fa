import { describe, expect } from 'vitest'
import { commitsDiscussedIn } from '../../../../test/tables/discussion.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { commitTo, readTexts } from '../../review/closing/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { createSnippet } from '../../text/snippets/testing.ts'
import { forMembers } from '../commit-comments/testing.ts'
import { storedProject } from '../commits/testing.ts'

async function withCommit(world: World, visibility: 'public' | 'private' = 'public') {
  const project = await storedProject(world, { visibility })
  const sha = project.repository.commit({ a: 'a\n' })
  return { project, sha, at: `/projects/${project.id}/repository/commits/${sha}` }
}

const notes = async (who: Client, at: string): Promise<string[]> => {
  const { status, json, text } = await who.get(`${at}/comments`)
  expect(status, text).toBe(200)
  return json.map(({ note }: { note: string }) => note)
}

describe('mentions of commits', () => {
  test('descriptions, notes and commits that name a commit leave a note on it, once each', async ({ world }) => {
    const { project, sha, at } = await withCommit(world)
    const issue = await openIssue(world, { project, description: `Since ${sha.slice(0, 10)}, see ${sha}` })
    await readTexts(world)
    const author = world.root
    const snippet = await createSnippet(world, { project, author })
    await world.root.post(`${snippet.at}/notes`, { body: `As in ${sha}` })
    await world.root.post(`${issue.at}/notes`, { body: `Again ${sha}` })
    const later = await commitTo(world, project.id, 'main', `Revert\n\nThis reverts commit ${sha}.`)
    const jobs = await readTexts(world)
    await jobs.again()
    expect(await notes(world.root, at)).toEqual([
      `mentioned in issue #${issue.iid}`,
      `mentioned in snippet $${snippet.id}`,
      `mentioned in commit ${later}`,
    ])
    const [discussion] = (await world.root.get(`${at}/discussions`)).json
    expect(discussion).toMatchObject({ individual_note: true, notes: [{ system: true, type: null, commit_id: sha }] })
    const one = `${at}/discussions/${discussion.id}`
    expect((await world.root.post(`${one}/notes`, { body: 'x' })).status).toBe(400)
    expect((await world.root.put(`${one}/notes/${discussion.notes[0].id}`, { body: 'x' })).status).toBe(403)
    expect((await world.root.delete(`${one}/notes/${discussion.notes[0].id}`)).status).toBe(403)
  })

  test('the descriptions of merge requests and snippets and notes of them name commits, too, also when they change', async ({
    world,
  }) => {
    const { project, sha, at } = await withCommit(world)
    const merge = await openMergeRequest(world, { project, description: `After ${sha.slice(0, 12)}` })
    const snippet = await createSnippet(world, { project, author: world.root, description: `From ${sha}` })
    const issue = await openIssue(world, { project })
    await readTexts(world)
    await world.root.put(issue.at, { description: `Since ${sha}` })
    await readTexts(world)
    expect(await notes(world.root, at)).toEqual([
      `mentioned in merge request !${merge.iid}`,
      `mentioned in snippet $${snippet.id}`,
      `mentioned in issue #${issue.iid}`,
    ])
  })

  test('a commit of another project is named by path, if the author may read its code', async ({ world }) => {
    const [open, closed] = [await withCommit(world), await withCommit(world, 'private')]
    const ann = await world.user()
    const here = await withCommit(world)
    const description = `See ${open.project.full_path}@${open.sha} and ${closed.project.full_path}@${closed.sha}`
    const issue = await openIssue(world, { project: here.project, author: ann, description })
    await readTexts(world)
    expect(await notes(world.root, open.at)).toEqual([`mentioned in issue ${here.project.full_path}#${issue.iid}`])
    expect(await notes(world.root, closed.at)).toEqual([])
    expect(await commitsDiscussedIn(world, closed.project.id)).toEqual([])
    await world.root.put(`/projects/${open.project.id}`, forMembers)
    await openIssue(world, {
      project: here.project,
      author: ann,
      description: `Again ${open.project.full_path}@${open.sha}`,
    })
    await readTexts(world)
    expect(await notes(world.root, open.at)).toHaveLength(1)
  })

  test('only readers of what mentions a commit see the note on it', async ({ world }) => {
    const { project, sha, at } = await withCommit(world)
    await openIssue(world, { project, confidential: true, description: `About ${sha}` })
    await readTexts(world)
    expect(await notes(world.root, at)).toEqual(['mentioned in issue #1'])
    expect(await notes(await world.user(), at)).toEqual([])
    expect(await notes(world.anonymous, at)).toEqual([])
    expect((await world.anonymous.get(`${at}/discussions`)).json).toEqual([])
  })

  test('a commit and its comments do not mention the commit itself, and what is no commit gets no note', async ({
    world,
  }) => {
    const { project, sha, at } = await withCommit(world)
    await world.root.post(`${at}/comments`, { note: `This is ${sha}` })
    project.repository.git('branch', 'abcdef0', sha)
    await openIssue(world, { project, description: `Call 5551234567, abcdef0, ${'f'.repeat(40)}` })
    await readTexts(world)
    expect(await notes(world.root, at)).toEqual([`This is ${sha}`])
    expect(await commitsDiscussedIn(world, project.id)).toHaveLength(1)
  })
})
