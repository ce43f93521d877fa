import { describe, expect } from 'vitest'
import { gitSsh, hasSsh, keyPair, sshUrl, withKey } from '../../../../test/ssh.ts'
import { pushesTo } from '../../../../test/tables/pushes.ts'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import { commitOn, mergeRequests, push, serverLines, warnings, warningsOf, withTopic, workingCopy } from './testing.ts'

describe('merge_request.create', () => {
  test('a push with merge_request.create opens a merge request into the default branch and links to it', async ({
    world,
  }) => {
    await using at = await withTopic(world, { message: 'Fix the window\n\nIt was open.\nNow it is not.' })
    const lines = await push(at.copy, ['topic'], 'merge_request.create')
    const [made, ...others] = await mergeRequests(at.ann, at.copy)
    expect(others).toEqual([])
    expect(made).toMatchObject({
      source_branch: 'topic',
      target_branch: 'main',
      title: 'Fix the window',
      description: 'It was open.\nNow it is not.',
      author: { id: at.ann.id },
      assignees: [],
      labels: [],
      state: 'opened',
    })
    expect(lines).toEqual(['View merge request for topic:', `  ${made.web_url}`])
    expect(await world.jobs('apply_push_options:%')).toEqual([])
  })

  test('the title of a merge request of several commits is the name of its branch', async ({ world }) => {
    await using at = await withTopic(world)
    await commitOn(at.copy, 'topic')
    await push(at.copy, ['topic:refs/heads/feature/add-new_labels'], 'mr.create')
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([
      { title: 'Feature/add new labels', description: null, source_branch: 'feature/add-new_labels' },
    ])
  })

  test('a push of several branches opens a merge request for each but the default branch', async ({ world }) => {
    await using at = await withTopic(world)
    await commitOn(at.copy, 'other')
    const lines = await push(at.copy, ['topic', 'other', 'topic~:main', 'topic:refs/tags/v1'], 'mr.create')
    expect(warningsOf(lines)).toEqual([])
    expect((await mergeRequests(at.ann, at.copy)).map((made) => made.source_branch).sort()).toEqual(['other', 'topic'])
  })

  test('a push of the default branch alone opens nothing and has a warning', async ({ world }) => {
    await using at = await withTopic(world)
    expect(await push(at.copy, ['topic:main'], 'mr.create')).toEqual(
      warnings('The merge_request push options have no effect: no branch but the default branch was pushed'),
    )
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
  })

  test('a push of 11 branches opens nothing and has a warning', async ({ world }) => {
    await using at = await withTopic(world)
    const branches = Array.from({ length: 11 }, (_, n) => `topic:refs/heads/b${n}`)
    expect(await push(at.copy, branches, 'mr.create')).toEqual(
      warnings('Too many branches pushed (11 were pushed, limit is 10)'),
    )
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
  })

  test('a push without merge_request.create of a branch without a merge request has a warning', async ({ world }) => {
    await using at = await withTopic(world)
    expect(warningsOf(await push(at.copy, ['topic'], 'mr.title=New'))).toEqual(
      warnings('A merge_request.create push option is required to create a merge request for branch topic'),
    )
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
  })

  test('a push to a project with merge requests disabled has a warning', async ({ world }) => {
    await using at = await withTopic(world)
    await at.ann.put(`/projects/${at.copy.project.id}`, { merge_requests_access_level: 'disabled' })
    expect(await push(at.copy, ['topic'], 'mr.create')).toEqual(
      warnings(`Merge requests are not enabled for project ${at.copy.project.full_path}`),
    )
  })

  test('a push that a rule refuses opens nothing', async ({ world }) => {
    await using at = await withTopic(world)
    await at.ann.post(`/projects/${at.copy.project.id}/protected_branches`, { name: 'topic', push_access_level: 0 })
    await expect(push(at.copy, ['topic'], 'mr.create', 'mr.label=made')).rejects.toThrow('hook declined')
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
    expect((await at.ann.get(`/projects/${at.copy.project.id}/labels`)).json).toEqual([])
    expect(await world.jobs('apply_push_options:%')).toEqual([])
  })

  test('a push whose branch cannot move opens nothing for it', async ({ world }) => {
    await using at = await withTopic(world)
    await commitOn(at.copy, 'other')
    await push(at.copy, ['other:blocked'])
    await expect(push(at.copy, ['topic', 'topic:blocked/below'], 'mr.create')).rejects.toThrow('failed to push')
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ source_branch: 'topic' }])
  })
})

describe('attributes from push options', () => {
  test('target, title, description, labels, milestone, assignees and removal of the branch are set', async ({
    world,
  }) => {
    const bob = await world.user()
    await using at = await withTopic(world, { members: [[bob, 'reporter']] })
    await git(at.copy.work, 'push', '-q', 'origin', 'main:stable')
    await at.ann.put(`/projects/${at.copy.project.id}`, { remove_source_branch_after_merge: false })
    await at.ann.post(`/projects/${at.copy.project.id}/milestones`, { title: '3.0' })
    const lines = await push(
      at.copy,
      ['topic'],
      'merge_request.create',
      'merge_request.target=stable',
      'merge_request.title=My title',
      'merge_request.description=My *text*',
      'merge_request.label=one',
      'merge_request.label=two words',
      'merge_request.milestone=3.0',
      `merge_request.assign=@${bob.username}`,
      `merge_request.assign=${at.ann.id}`,
      'merge_request.remove_source_branch',
    )
    const [made] = await mergeRequests(at.ann, at.copy)
    expect(made).toMatchObject({
      target_branch: 'stable',
      title: 'My title',
      description: 'My *text*',
      labels: ['one', 'two words'],
      milestone: { title: '3.0' },
      force_remove_source_branch: true,
    })
    expect(made.assignees.map(({ id }: { id: number }) => id).sort()).toEqual([at.ann.id, bob.id].sort())
    expect(warningsOf(lines)).toEqual([])
    // Created as the API creates labels.
    expect((await at.ann.get(`/projects/${at.copy.project.id}/labels`)).json).toMatchObject([
      { name: 'one', color: '#428BCA' },
      { name: 'two words' },
    ])
  })

  test('a push updates the open merge request of its branch', async ({ world }) => {
    const bob = await world.user()
    await using at = await withTopic(world, { members: [[bob, 'reporter']] })
    await git(at.copy.work, 'push', '-q', 'origin', 'main:stable')
    await push(at.copy, ['topic'], 'mr.create', 'mr.label=a', 'mr.label=b', `mr.assign=${at.ann.username}`)
    await commitOn(at.copy, 'topic')
    const lines = await push(
      at.copy,
      ['topic'],
      'mr.create',
      'mr.target=stable',
      'mr.title=Other',
      'mr.description=Text',
      'mr.label=c',
      'mr.unlabel=a',
      `mr.assign=${bob.username}`,
      `mr.unassign=${at.ann.username}`,
      'mr.remove_source_branch=false',
    )
    const [made, ...others] = await mergeRequests(at.ann, at.copy)
    expect(others).toEqual([])
    expect(made).toMatchObject({
      target_branch: 'stable',
      title: 'Other',
      description: 'Text',
      labels: ['b', 'c'],
      assignees: [{ id: bob.id }],
      force_remove_source_branch: false,
    })
    expect(lines).toEqual(['View merge request for topic:', `  ${made.web_url}`])
    const notes = (await at.ann.get(`${at.copy.at}/${made.iid}/notes`)).json
    const bodies: string[] = notes.map(({ body }: { body: string }) => body)
    expect(bodies).toContain('changed target branch from `main` to `stable`')
    expect(bodies.filter((body) => body.startsWith('added 1 commit'))).toHaveLength(1)
  })

  test('merge_request.draft marks a merge request as a draft once', async ({ world }) => {
    await using at = await withTopic(world)
    await push(at.copy, ['topic'], 'mr.create', 'mr.title=Later', 'mr.draft')
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ title: 'Draft: Later' }])
    await commitOn(at.copy, 'topic')
    await push(at.copy, ['topic'], 'mr.draft')
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ title: 'Draft: Later' }])
  })

  test('merge_request.draft cuts the title of a commit that has no room for the mark', async ({ world }) => {
    await using at = await withTopic(world, { message: 'x'.repeat(300) })
    expect(warningsOf(await push(at.copy, ['topic'], 'mr.create', 'mr.draft'))).toEqual([])
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ title: `Draft: ${'x'.repeat(248)}` }])
  })

  test('a merge request with merge_when_pipeline_succeeds merges after its pipeline', async ({ world }) => {
    await using at = await withTopic(world)
    await git(at.copy.work, 'commit', '-q', '--allow-empty', '--amend', '-m', 'A file')
    await at.ann.post(`/projects/${at.copy.project.id}/repository/files/b`, {
      branch: 'topic',
      start_branch: 'main',
      content: 'b',
      commit_message: 'b',
    })
    await git(at.copy.work, 'fetch', '-q')
    await git(at.copy.work, 'reset', '-q', '--hard', 'origin/topic')
    await commitOn(at.copy, 'topic', 'More')
    const lines = await push(at.copy, ['topic'], 'mr.create', 'mr.merge_when_pipeline_succeeds')
    expect(warningsOf(lines)).toEqual([])
    const [made] = await mergeRequests(at.ann, at.copy)
    expect(made).toMatchObject({ merge_when_pipeline_succeeds: true, state: 'opened' })
    const status = { state: 'success', ref: 'topic' }
    await at.ann.post(`/projects/${at.copy.project.id}/statuses/${made.sha}`, status)
    expect(await world.jobs(`merge_when_pipeline_succeeds:${at.copy.project.id}:%`)).toHaveLength(1)
  })
})

describe('warnings about push options', () => {
  test.for([
    ['mr.target=nowhere', 'Branch nowhere does not exist', 0],
    ['mr.target=topic', "You can't use same project/branch for source and target", 0],
    [`mr.title=${'x'.repeat(256)}`, 'title is too long (maximum is 255 characters)', 0],
    ['mr.milestone=none', "Milestone 'none' does not exist.", 1],
    ['mr.assign=no-such-user', "The user 'no-such-user' cannot be assigned.", 1],
    ['mr.unassign=no-such-user', "The user 'no-such-user' is not assigned.", 1],
    ['mr.label=a,b', "A label cannot be called 'a,b'.", 1],
    ['mr.creat', "The push option 'mr.creat' is unknown and has no effect.", 1],
    ['topic=change', "The push option 'topic=change' is unknown and has no effect.", 1],
    ['ci.variable=A=b', 'The push option ci.variable has no effect: this server runs no pipelines itself.', 1],
  ] as const)('a push with %s succeeds with the warning "%s"', async ([option, warning, created], { world }) => {
    await using at = await withTopic(world)
    const lines = await push(at.copy, ['topic'], 'mr.create', option)
    expect(warningsOf(lines)).toEqual(warnings(warning))
    expect(await mergeRequests(at.ann, at.copy)).toHaveLength(created)
    expect((await at.ann.get(`/projects/${at.copy.project.id}/repository/branches/topic`)).status).toBe(200)
  })

  test('a user without access to a private project is not assigned, with a warning', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, stranger] = [await world.user(), await world.user()]
    const copy = await workingCopy(world, folder.path, ann, { visibility: 'private' })
    await commitOn(copy, 'topic')
    expect(warningsOf(await push(copy, ['topic'], 'mr.create', `mr.assign=${stranger.username}`))).toEqual(
      warnings(`The user '${stranger.username}' cannot be assigned.`),
    )
    expect(await mergeRequests(ann, copy)).toMatchObject([{ assignees: [] }])
  })

  test('an automatic merge that the user may not make has a warning', async ({ world }) => {
    const dev = await world.user()
    await using at = await withTopic(world, { members: [[dev, 'developer']] })
    await git(at.copy.work, 'remote', 'set-url', 'origin', world.remote(at.copy.project, dev))
    const lines = await push(at.copy, ['topic'], 'mr.create', 'mr.merge_when_pipeline_succeeds')
    expect(warningsOf(lines)).toEqual(warnings("The automatic merge of 'topic' is not enabled: User access was denied"))
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ merge_when_pipeline_succeeds: false }])
  })

  test('too many or too large options change nothing, and the push succeeds', async ({ world }) => {
    await using at = await withTopic(world)
    const labels = Array.from({ length: 1000 }, (_, n) => `mr.label=l${n}`)
    const tooMany = warnings('No push option has an effect: the limit is 100 options of 131072 characters together.')
    expect(warningsOf(await push(at.copy, ['topic'], 'mr.create', ...labels))).toEqual(tooMany)
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
    const stored = await pushesTo(world, at.copy.project.id, 'options')
    expect(stored.flatMap(({ options }) => options)).toEqual([])
  })

  test('control characters in options do not reach the terminal or the merge request', async ({ world }) => {
    await using at = await withTopic(world)
    const lines = await push(at.copy, ['topic'], 'mr.create', 'mr.title=a\x1b[2Jb', 'mr.label=\u009b2J')
    expect(warningsOf(lines)).toEqual(
      warnings(
        "The push option 'mr.title=a?[2Jb' has no effect: it is not plain text in UTF-8.",
        "The push option 'mr.label=?2J' has no effect: it is not plain text in UTF-8.",
      ),
    )
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ title: 'Change topic', labels: [] }])
  })
})

describe.skipIf(!hasSsh)('push options over SSH (needs OpenSSH)', () => {
  test('a push over SSH opens a merge request and shows warnings and the link', async ({ world }) => {
    await using at = await withTopic(world)
    const key = await withKey(at.folder, at.ann)
    const options = ['-o', 'mr.create', '-o', 'mr.label=ssh', '-o', 'unknown']
    const { code, err } = await gitSsh(
      world,
      key,
      at.copy.work,
      'push',
      ...options,
      sshUrl(world, at.copy.project),
      'topic',
    )
    expect(code).toBe(0)
    const [made] = await mergeRequests(at.ann, at.copy)
    expect(made).toMatchObject({ title: 'Change topic', labels: ['ssh'], author: { id: at.ann.id } })
    expect(serverLines(err)).toEqual([
      ...warnings("The push option 'unknown' is unknown and has no effect."),
      'View merge request for topic:',
      `  ${made.web_url}`,
    ])
  })

  test('a push with a deploy key opens nothing and has a warning', async ({ world }) => {
    await using at = await withTopic(world)
    const key = await keyPair(at.folder)
    const deployKey = { title: 'robot', key: key.text, can_push: true }
    await at.ann.post(`/projects/${at.copy.project.id}/deploy_keys`, deployKey)
    const url = sshUrl(world, at.copy.project)
    const { code, err } = await gitSsh(world, key, at.copy.work, 'push', '-o', 'mr.create', url, 'topic')
    expect(code).toBe(0)
    expect(warningsOf(serverLines(err))).toEqual(warnings('User access was denied'))
    expect(await mergeRequests(at.ann, at.copy)).toEqual([])
    expect(await world.jobs('apply_push_options:%')).toEqual([])
  })
})
