import { describe, expect } from 'vitest'
import { git, type TestProject, temporaryFolder, test } from '../../../../test/world.ts'
import { commitOn, forkedCopy, mergeRequests, push, warnings, warningsOf, withTopic } from './testing.ts'

describe('rights of push options', () => {
  test('a merge request needs a token with the scope api', async ({ world }) => {
    await using at = await withTopic(world)
    const limited = await world.as(at.ann, ['write_repository'])
    await git(at.copy.work, 'remote', 'set-url', 'origin', world.remote(at.copy.project, limited))
    expect(warningsOf(await push(at.copy, ['topic'], 'mr.create'))).toEqual(
      warnings('User access was denied: the access token needs the scope api'),
    )
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
    expect(await world.jobs('apply_push_options:%')).toEqual([])
  })

  test('a merge request of another author is updated only by members who can push', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [eve, dev] = [await world.user(), await world.user()]
    const { theirs, copy } = await forkedCopy(world, folder.path, eve)
    await world.root.post(`/projects/${copy.project.id}/members`, { user_id: dev.id, access_level: 30 })
    await commitOn(copy, 'topic')
    await push(copy, ['topic'], 'mr.create')
    await git(copy.work, 'remote', 'set-url', 'origin', world.remote(copy.project, dev))
    await commitOn(copy, 'topic')
    expect(warningsOf(await push(copy, ['topic'], 'mr.title=Mine'))).toEqual(warnings('User access was denied'))
    expect(await mergeRequests(eve, theirs)).toMatchObject([{ title: 'Change topic' }])
  })

  test('a push to a fork opens a merge request into its source, with the rights of its author there', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const eve = await world.user()
    const { theirs, copy } = await forkedCopy(world, folder.path, eve)
    await commitOn(copy, 'topic')
    const lines = await push(copy, ['topic'], 'mr.create', 'mr.label=mine', `mr.assign=${eve.username}`)
    const [made] = await mergeRequests(eve, theirs)
    expect(made).toMatchObject({
      source_project_id: copy.project.id,
      target_project_id: theirs.project.id,
      title: 'Change topic',
      labels: [],
      assignees: [],
    })
    expect(lines).toEqual([
      ...warnings(`Labels, assignees and the milestone are not set: you cannot push to ${theirs.project.full_path}.`),
      'View merge request for topic:',
      `  ${made.web_url}`,
    ])
    expect(await mergeRequests(eve, copy)).toEqual([])
  })

  test.for([
    ['private fork of a public project', { visibility: 'private' }],
    [
      'fork whose code is for members only',
      { repository_access_level: 'private', merge_requests_access_level: 'private', builds_access_level: 'private' },
    ],
  ] as const)(
    'a push to a %s opens the merge request in the fork, and copies no code',
    async ([, change], { world }) => {
      await using folder = await temporaryFolder()
      const eve = await world.user()
      const { theirs, copy } = await forkedCopy(world, folder.path, eve)
      expect((await eve.put(`/projects/${copy.project.id}`, change)).status).toBe(200)
      await commitOn(copy, 'topic')
      await push(copy, ['topic'], 'mr.create')
      expect(await mergeRequests(eve, theirs)).toEqual([])
      const [made] = await mergeRequests(eve, copy)
      expect(made).toMatchObject({ target_project_id: copy.project.id })
      expect((await world.root.get(`/projects/${theirs.project.id}/repository/commits/${made.sha}`)).status).toBe(404)
    },
  )

  test.for([
    ['path', ({ full_path }: TestProject) => full_path],
    ['id', ({ id }: TestProject) => String(id)],
  ] as const)('merge_request.target_project names the target project by %s', async ([, nameOf], { world }) => {
    await using folder = await temporaryFolder()
    const eve = await world.user()
    const { theirs, copy } = await forkedCopy(world, folder.path, eve)
    await commitOn(copy, 'topic')
    expect(warningsOf(await push(copy, ['topic'], 'mr.create', `mr.target_project=${nameOf(copy.project)}`))).toEqual(
      [],
    )
    expect(await mergeRequests(eve, copy)).toMatchObject([{ target_project_id: copy.project.id }])
    expect(await mergeRequests(eve, theirs)).toEqual([])
    await commitOn(copy, 'topic')
    await push(copy, ['topic'], 'mr.create', `mr.target_project=${nameOf(theirs.project)}`)
    expect(await mergeRequests(eve, theirs)).toMatchObject([{ target_project_id: theirs.project.id }])
    await commitOn(copy, 'topic')
    await push(copy, ['topic'], `mr.target_project=${nameOf(copy.project)}`, 'mr.title=Of the fork')
    expect(await mergeRequests(eve, copy)).toMatchObject([{ title: 'Of the fork' }])
    expect(await mergeRequests(eve, theirs)).toMatchObject([{ title: 'Topic' }])
  })

  test('a target project that is hidden, missing or outside the fork network has the same warning', async ({
    world,
  }) => {
    await using at = await withTopic(world)
    const hidden = await world.project({ visibility: 'private' })
    const other = await world.project({ visibility: 'public' })
    for (const name of [hidden.full_path, other.full_path, 'no/such']) {
      const lines = await push(at.copy, ['topic'], 'mr.create', `mr.target_project=${name}`)
      expect(warningsOf(lines)).toEqual(
        warnings(`The target project '${name}' does not exist or is not in the same fork network`),
      )
      await commitOn(at.copy, 'topic')
    }
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
  })

  test('a push to a fork of an archived project opens the merge request in the fork', async ({ world }) => {
    await using folder = await temporaryFolder()
    const eve = await world.user()
    const { theirs, copy } = await forkedCopy(world, folder.path, eve)
    await world.archive(theirs.project)
    await commitOn(copy, 'topic')
    await push(copy, ['topic'], 'mr.create')
    expect(await mergeRequests(eve, theirs)).toEqual([])
    expect(await mergeRequests(eve, copy)).toMatchObject([{ target_project_id: copy.project.id }])
  })
})
