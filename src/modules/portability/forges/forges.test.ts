import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { forgeOf, importOf, request } from './testing.ts'

const byNumber = (a: { iid: number }, b: { iid: number }): number => a.iid - b.iid

describe.each(['github', 'gitea'] as const)('an import from %s', (name) => {
  test('an import has code, issues, labels, milestones and comments with their numbers', async ({ world }) => {
    await using forge = await forgeOf(world, name)
    const zoe = await world.user()
    const { at, state } = await importOf(world, zoe, forge)
    expect(state).toMatchObject({ import_status: 'finished', import_error: null, import_type: name })
    expect((await zoe.get(at)).json).toMatchObject({
      description: 'Code of Ann',
      visibility: 'private',
      default_branch: 'main',
    })
    expect((await zoe.get(`${at}/repository/branches`)).json.map((each: any) => each.name)).toContain('mend')
    expect((await zoe.get(`${at}/repository/tags`)).json).toMatchObject([{ name: 'v1.0' }])
    const issues = (await zoe.get(`${at}/issues`)).json.sort(byNumber)
    expect(issues).toMatchObject([
      {
        iid: 1,
        title: 'It is broken',
        state: 'opened',
        labels: ['bug'],
        milestone: { title: 'Version 1', due_date: '2024-06-01' },
      },
      { iid: 2, title: 'It was broken', state: 'closed' },
    ])
    expect(issues[0].description).toContain('Everywhere')
    const notes = (await zoe.get(`${at}/issues/1/notes?sort=asc`)).json
    expect(notes.map((note: any) => note.body)).toEqual([
      expect.stringMatching(/^Where\?\n\n \*By .*ben-of-forge on 2024-03-02 10:00:00 UTC/),
      expect.stringMatching(/^There\n\n \*By .*ann-of-forge/),
    ])
    expect((await zoe.get(`${at}/labels`)).json).toMatchObject([
      { name: 'bug', color: '#d73a4a', description: 'Something is wrong' },
      { name: 'idea', color: '#a2eeef' },
    ])
    expect(state.stats.fetched).toMatchObject({ issue: 2, note: 3, label: 2, milestone: 1, pull_request: 3 })
    expect(state.stats.imported).toMatchObject({ issue: 2, note: 3, label: 2, milestone: 1, pull_request: 3 })
  })

  test('pull requests keep numbers, states, commits, reviews and the lines of comments', async ({ world }) => {
    await using forge = await forgeOf(world, name)
    const zoe = await world.user()
    const { at } = await importOf(world, zoe, forge)
    const merges = (await zoe.get(`${at}/merge_requests`)).json.sort(byNumber)
    expect(merges).toMatchObject([
      { iid: 3, state: 'opened', source_branch: 'mend', target_branch: 'main', labels: ['bug'] },
      { iid: 4, state: 'merged', merge_status: 'can_be_merged', merge_commit_sha: forge.repository.main },
      { iid: 5, state: 'opened', source_branch: `${name}/fork/ben-of-forge/main` },
    ])
    expect((await zoe.get(`${at}/merge_requests/3/commits`)).json).toMatchObject([{ title: 'Pull 3' }])
    expect((await zoe.get(`${at}/merge_requests/4/changes`)).json.changes).toMatchObject([{ new_path: 'lines.txt' }])
    const discussions = (await zoe.get(`${at}/merge_requests/3/discussions`)).json
    const bodies = discussions.map((each: any) => each.notes.map(({ body }: any) => body.split('\n')[0]))
    expect(bodies).toContainEqual(['Why?', 'Because'])
    expect(bodies).toContainEqual(['Good'])
    expect(bodies).toContainEqual(['**Review:** Approved'])
    expect(bodies).toContainEqual(['*Comment on `lines.txt`*'])
    const [first] = discussions.find((each: any) => each.notes[0].body.startsWith('Why?')).notes
    expect(first).toMatchObject({ type: 'DiffNote', position: { new_path: 'lines.txt', new_line: 5, old_line: null } })
  })

  test('releases and the wiki come along, drafts of releases do not', async ({ world }) => {
    await using forge = await forgeOf(world, name)
    const zoe = await world.user()
    const { at, state } = await importOf(world, zoe, forge)
    expect((await zoe.get(`${at}/releases`)).json).toMatchObject([
      { tag_name: 'v1.0', name: 'First', description: 'All of it' },
    ])
    expect((await zoe.get(`${at}/wikis`)).json).toMatchObject([{ title: 'Home' }])
    expect(state.failed_relations).toMatchObject([
      { relation_name: 'release', exception_message: 'v2.0: it is a draft', source: name },
    ])
  })

  test('403 if the source is disabled, and the answer of the documentation otherwise', async ({ world }) => {
    await using forge = await forgeOf(world, name)
    const zoe = await world.user()
    await world.settings({ import_sources: ['git'] })
    expect((await request(zoe, forge)).status).toBe(403)
    await world.settings({ import_sources: ['git', 'gitlab_project', 'github', 'gitea'] })
    const made = await request(zoe, forge, { new_name: 'renamed' })
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: 'renamed',
        full_path: `/${zoe.username}/renamed`,
        full_name: expect.stringMatching(/ \/ renamed$/),
        import_source: 'ann/code',
        import_status: 'scheduled',
        provider_link: '/ann/code',
      },
    })
  })
})
