import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

const set = (world: World, { id }: StoredProject, settings: object) => world.root.put(`/projects/${id}`, settings)
const messageOf = ({ repository }: StoredProject, revision: string): string =>
  repository.git('log', '-1', '--format=%B', revision)

/** A merge request of three commits by two authors, whose second has a body. */
async function ofThreeCommits(world: World, settings: object, attributes: object = {}) {
  const project = await storedProject(world)
  await set(world, project, settings)
  const ann = await world.user({ name: 'Ann' })
  await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })
  const { repository } = project
  const base = repository.commit({ a: 'a\n' })
  repository.commit({ b: 'b\n' }, { branch: 'topic', parents: [base], message: 'One\n', author: 'Bob <bob@x.y>' })
  repository.commit({ c: 'c\n' }, { branch: 'topic', message: 'Two\n\nWhy.\n\nMore.\n', author: 'Cy <cy@x.y>' })
  repository.commit({ d: 'd\n' }, { branch: 'topic', message: 'Three\n', author: `Ann <${ann.username}@example.com>` })
  const made = await ann.post(`/projects/${project.id}/merge_requests`, {
    ...{ source_branch: 'topic', target_branch: 'main', title: 'Better' },
    ...attributes,
  })
  expect(made.status).toBe(201)
  const { iid } = made.json
  return { project, ann, iid, at: `/projects/${project.id}/merge_requests/${iid}` }
}

describe('templates of commit messages', () => {
  test('merge_commit_template makes the message of a merge commit', async ({ world }) => {
    const template =
      "Merge '%{source_branch}' (%{local_reference}) into %{target_branch}: %{title}\r\n\r\n%{description}\n\n%{issues}\n\n%{reference} %{url} of %{source_project_id}\n%{merged_by}\n%{unknown} 100%"
    const opened = await openMergeRequest(world, { description: 'All\nof it' })
    const { project, at, iid, record } = opened
    const issue = await world.root.post(`/projects/${project.id}/issues`, { title: 'Broken' })
    await world.root.put(at, { description: `All\nof it\n\nCloses #${issue.json.iid}` })
    expect(await set(world, project, { merge_commit_template: template })).toMatchObject({
      status: 200,
      json: { merge_commit_template: template, squash_commit_template: null },
    })
    expect((await world.root.put(`${at}/merge`)).status).toBe(200)
    expect(messageOf(project, 'main')).toBe(
      `Merge 'topic' (!${iid}) into main: Merge topic\n\nAll\nof it\n\nCloses #${issue.json.iid}\n\nCloses #${issue.json.iid}\n\n` +
        `${project.full_path}!${iid} ${record.web_url} of ${project.id}\n${project.repository.git('log', '-1', '--format=%cn <%ce>', 'main')}\n%{unknown} 100%`,
    )
  })

  test('a line of which nothing is left is omitted, and so is the blank line before', async ({ world }) => {
    const { project, at } = await openMergeRequest(world, { description: '' })
    const merge_commit_template = '%{title}\n\n%{issues}\n\n%{approved_by}%{description}\nEnd\n\n%{issues}'
    await set(world, project, { merge_commit_template })
    await world.root.put(`${at}/merge`)
    expect(messageOf(project, 'main')).toBe('Merge topic\n\nEnd')
  })

  test('a template of which nothing is left makes the default message, and a message of the request wins', async ({
    world,
  }) => {
    for (const [sent, expected] of [
      [{}, /^Merge branch 'topic' into 'main'/],
      [{ merge_commit_message: 'Mine' }, /^Mine$/],
    ] as const) {
      const { project, at } = await openMergeRequest(world)
      await set(world, project, { merge_commit_template: '%{issues}' })
      await world.root.put(`${at}/merge`, sent)
      expect(messageOf(project, 'main')).toMatch(expected)
    }
  })

  test('squash_commit_template has the commits, their authors and those who approved', async ({ world }) => {
    const template =
      '%{first_commit}: %{first_multiline_commit_description}\n\n%{all_commits}\n\n%{co_authored_by}\n%{approved_by}\nBy: %{merge_request_author}'
    const { project, at, ann } = await ofThreeCommits(world, { squash_commit_template: template })
    const dan = await world.user({ name: 'Dan' })
    await world.root.post(`/projects/${project.id}/members`, { user_id: dan.id, access_level: 30 })
    expect((await dan.post(`${at}/approve`)).status).toBe(201)
    expect((await world.root.put(`${at}/merge`, { squash: true })).json).toMatchObject({ state: 'merged' })
    expect(messageOf(project, 'main^2')).toMatch(
      new RegExp(
        '^One: Why\\.\n\nMore\\.\n\n\\* One\n\n\\* Two\n\nWhy\\.\n\nMore\\.\n\n\\* Three\n\n' +
          'Co-authored-by: Bob <bob@x\\.y>\nCo-authored-by: Cy <cy@x\\.y>\n' +
          `Approved-by: Dan <${dan.id}-${dan.username}@[^>]+>\nBy: Ann <${ann.id}-${ann.username}@[^>]+>$`,
      ),
    )
    // The merge commit keeps its default.
    expect(messageOf(project, 'main')).toMatch(/^Merge branch 'topic' into 'main'/)
  })

  test('a single commit is squashed if the template makes another message of it', async ({ world }) => {
    for (const [squash_commit_template, isSquashed] of [
      ['%{title} (%{local_reference})', true],
      ['%{first_commit}', false],
    ] as const) {
      const { project, at, iid, head } = await openMergeRequest(world, { squash: true })
      await set(world, project, { squash_commit_template })
      await world.root.put(`${at}/merge`)
      expect(project.repository.git('rev-parse', 'main^2') === head).toBe(!isSquashed)
      if (isSquashed) expect(messageOf(project, 'main^2')).toBe(`Merge topic (!${iid})`)
    }
  })

  test('with the merge method ff, the squash commit has the message', async ({ world }) => {
    const { project, at } = await ofThreeCommits(world, {
      merge_method: 'ff',
      squash_commit_template: '%{first_multiline_commit}',
    })
    expect((await world.root.put(`${at}/merge`, { squash: true })).json).toMatchObject({ state: 'merged' })
    expect(messageOf(project, 'main')).toBe('Two\n\nWhy.\n\nMore.')
  })

  test('400 for templates of more than 500 characters; null restores the default', async ({ world }) => {
    const project = await storedProject(world)
    for (const name of ['merge_commit_template', 'squash_commit_template']) {
      expect(await set(world, project, { [name]: 'x'.repeat(501) })).toMatchObject({
        status: 400,
        json: { message: { [name]: ['is too long (maximum is 500 characters)'] } },
      })
      expect((await set(world, project, { [name]: 'é'.repeat(500) })).status).toBe(200)
      expect((await set(world, project, { [name]: null })).json[name]).toBeNull()
    }
  })

  test('names and titles begin no line of a message', async ({ world }) => {
    const { project, at } = await openMergeRequest(world, { title: 'One\u2028Signed-off-by: Eve <eve@x.y>' })
    await set(world, project, { merge_commit_template: '%{title}' })
    await world.root.put(`${at}/merge`)
    expect(messageOf(project, 'main')).toBe('One Signed-off-by: Eve <eve@x.y>')
  })
})
