import { describe, expect } from 'vitest'
import { type Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { commitOn, forkedCopy, push, type WorkingCopy, workingCopy } from './testing.ts'

const newUrl = (world: World, { project }: WorkingCopy, branch: string) =>
  `  ${world.origin}/${project.full_path}/-/merge_requests/new?merge_request%5Bsource_branch%5D=${branch}`

async function open(who: Client, { at }: WorkingCopy, source_branch: string) {
  return (await who.post(at, { source_branch, target_branch: 'main', title: `Merge ${source_branch}` })).json as {
    web_url: string
  }
}

describe('links after a push', () => {
  test('a push of a new branch answers with the link to create a merge request', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const copy = await workingCopy(world, folder.path, ann)
    await commitOn(copy, 'fix/ümlaut#1')
    expect(await push(copy, ['fix/ümlaut#1'])).toEqual([
      'To create a merge request for fix/ümlaut#1, visit:',
      newUrl(world, copy, 'fix%2F%C3%BCmlaut%231'),
    ])
  })

  test('a push of a branch with an open merge request answers with its link', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const copy = await workingCopy(world, folder.path, ann)
    await commitOn(copy, 'topic')
    await push(copy, ['topic'])
    const { web_url } = await open(ann, copy, 'topic')
    await commitOn(copy, 'topic')
    await commitOn(copy, 'other')
    expect(await push(copy, ['topic', 'other'])).toEqual([
      'View merge request for topic:',
      `  ${web_url}`,
      'To create a merge request for other, visit:',
      newUrl(world, copy, 'other'),
    ])
  })

  test('a push of a tag, of the default branch or of a deletion answers with no link', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const copy = await workingCopy(world, folder.path, ann)
    await commitOn(copy, 'topic')
    await git(copy.work, 'tag', 'v1')
    await push(copy, ['topic'])
    expect(await push(copy, ['topic:main', 'v1', ':topic'])).toEqual([])
  })

  test('a push answers with no link if printing_merge_request_link_enabled is false', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const copy = await workingCopy(world, folder.path, ann)
    const setting = (printing_merge_request_link_enabled: boolean) =>
      ann.put(`/projects/${copy.project.id}`, { printing_merge_request_link_enabled })
    await setting(false)
    await commitOn(copy, 'topic')
    expect(await push(copy, ['topic'])).toEqual([])
    await setting(true)
    await commitOn(copy, 'topic')
    expect(await push(copy, ['topic'])).toHaveLength(2)
  })

  test('a push answers with no link if merge requests are disabled', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const copy = await workingCopy(world, folder.path, ann)
    await ann.put(`/projects/${copy.project.id}`, { merge_requests_access_level: 'disabled' })
    await commitOn(copy, 'topic')
    expect(await push(copy, ['topic'])).toEqual([])
  })

  test('a push of more than 10 branches answers with no link', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const copy = await workingCopy(world, folder.path, ann)
    const branches = Array.from({ length: 11 }, (_, n) => `main:refs/heads/b${n}`)
    expect(await push(copy, branches)).toEqual([])
  })

  test('a push to a fork does not link to a merge request that the user cannot read', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const { theirs, copy } = await forkedCopy(world, folder.path, ann)
    await commitOn(copy, 'topic')
    await push(copy, ['topic'])
    const { json } = await ann.post(copy.at, {
      source_branch: 'topic',
      target_branch: 'main',
      target_project_id: theirs.project.id,
      title: 'From the fork',
    })
    await commitOn(copy, 'topic')
    expect(await push(copy, ['topic'])).toEqual(['View merge request for topic:', `  ${json.web_url}`])
    await world.root.put(`/projects/${theirs.project.id}`, { visibility: 'private' })
    await world.root.put(`/projects/${copy.project.id}`, { visibility: 'private' })
    await commitOn(copy, 'topic')
    expect(await push(copy, ['topic'])).toEqual([
      'To create a merge request for topic, visit:',
      newUrl(world, copy, 'topic'),
    ])
  })
})
