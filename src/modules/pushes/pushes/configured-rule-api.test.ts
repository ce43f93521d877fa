import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { gitCommands, storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from '../../review/merge-requests/testing.ts'
import { cloned } from './testing.ts'

describe('push rules of the API', () => {
  const pattern = "Commit message does not follow the pattern '^fix'"
  const refused = { status: 400, json: { message: pattern } }

  test('files and commits answer 400 with the text, and change nothing', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ commit_message_regex: '^fix', prevent_secrets: true })
    const file = { branch: 'main', commit_message: 'no', content: 'x' }
    expect(await at.ann.post(`${at.at}/repository/files/b`, file)).toMatchObject(refused)
    expect(await at.ann.put(`${at.at}/repository/files/a.txt`, file)).toMatchObject(refused)
    expect(await at.ann.delete(`${at.at}/repository/files/a.txt?branch=main&commit_message=no`)).toMatchObject(refused)
    const actions = [{ action: 'move', previous_path: 'a.txt', file_path: 'keys/id_rsa' }]
    const move = { branch: 'main', commit_message: 'fix', actions }
    expect(await at.ann.post(`${at.at}/repository/commits`, { ...move, commit_message: 'no' })).toMatchObject(refused)
    expect(await at.ann.post(`${at.at}/repository/commits`, move)).toMatchObject({
      status: 400,
      json: { message: 'File name keys/id_rsa was blacklisted by the pattern id_rsa$.' },
    })
    expect((await at.ann.get(`${at.at}/repository/branches/main`)).json.commit.id).toBe(at.first)
    expect((await at.ann.post(`${at.at}/repository/files/b`, { ...file, commit_message: 'fix' })).status).toBe(201)
  })

  test('a commit of the API starts no git process for its push rule', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ commit_message_regex: '^fix', prevent_secrets: true, max_file_size: 1, member_check: true })
    const commit = (path: string) =>
      at.ann.post(`${at.at}/repository/files/${path}`, { branch: 'main', commit_message: 'fix', content: 'x' })
    expect((await commit('first')).status).toBe(201)
    const commands = await gitCommands(world, async () => expect((await commit('second')).status).toBe(201))
    expect(commands.filter((command) => /\b(log|rev-list|diff-tree)\b/.test(command))).toEqual([])
  })

  test('cherry-picks, reverts and branches from hidden commits are checked', async ({ world }) => {
    await using at = await cloned(world)
    const source = at.repository.commit({ b: 'b' }, { branch: 'topic', message: 'no' })
    await at.rule({ commit_message_negative_regex: '^no|^Revert' })
    const text = "Commit message contains the forbidden pattern '^no|^Revert'"
    for (const action of ['cherry_pick', 'revert'])
      expect(
        await at.ann.post(`${at.at}/repository/commits/${source}/${action}`, {
          branch: action === 'revert' ? 'topic' : 'main',
        }),
      ).toMatchObject({
        status: 400,
        json: { message: text },
      })
    // The commit exists on a branch, so it is not new on another.
    expect((await at.ann.post(`${at.at}/repository/branches`, { branch: 'copy', ref: source })).status).toBe(201)
    const hidden = at.repository.commit({ c: 'c' }, { branch: 'hidden', message: 'no' })
    at.repository.git('update-ref', 'refs/merge-requests/7/head', hidden)
    at.repository.git('update-ref', '-d', 'refs/heads/hidden')
    expect(await at.ann.post(`${at.at}/repository/branches`, { branch: 'shown', ref: hidden })).toMatchObject({
      status: 400,
      json: { message: text },
    })
  })

  test('a branch or tag of unsigned commits, or a commit on them, brings none to a project that rejects them', async ({
    world,
  }) => {
    await using at = await cloned(world)
    const hidden = at.repository.commit({ c: 'c' }, { branch: 'hidden' })
    at.repository.git('update-ref', 'refs/merge-requests/7/head', hidden)
    at.repository.git('update-ref', '-d', 'refs/heads/hidden')
    await at.rule({ reject_unsigned_commits: true })
    const unsigned = { status: 400, json: { message: 'Commit must be signed with a GPG key' } }
    const post = (path: string, body: object) => at.ann.post(`${at.at}/repository/${path}`, body)
    expect(await post('branches', { branch: 'shown', ref: hidden })).toMatchObject(unsigned)
    expect(await post('tags', { tag_name: 'shown', ref: hidden })).toMatchObject(unsigned)
    const file = { branch: 'shown', commit_message: 'x', content: 'x' }
    const actions = [{ action: 'create', file_path: 'x', content: 'x' }]
    expect(await post('commits', { ...file, start_sha: hidden, actions })).toMatchObject(unsigned)
    // What the API itself makes has no signature.
    expect((await post('commits', { ...file, start_branch: 'main', actions })).status).toBe(201)
    expect((await post('files/y', { ...file, branch: 'main' })).status).toBe(201)
  })

  test('a merge whose message violates the rule stays open with the reason', async ({ world }) => {
    const opened = await openMergeRequest(world, {})
    opened.project.repository.commit({ other: 'x' })
    await world.root.post(`/projects/${opened.project.id}/push_rule`, { commit_message_regex: '^fix' })
    const merge = (message: string) => world.root.put(`${opened.at}/merge`, { merge_commit_message: message })
    expect(await merge('no')).toMatchObject({
      status: 200,
      json: { state: 'opened', merge_error: `Something went wrong during merge pre-receive hook. ${pattern}` },
    })
    expect(await merge('fix: it')).toMatchObject({ status: 200, json: { state: 'merged', merge_error: null } })
  })

  test('a rebase of commits that violate the rule leaves the branch as it is, with the reason', async ({ world }) => {
    const { at, project, head } = await openMergeRequest(world, {})
    project.repository.commit({ other: 'x' })
    await world.root.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^fix' })
    expect((await world.root.put(`${at}/rebase`)).status).toBe(202)
    await world.runJobs()
    await expect
      .poll(async () => (await world.root.get(`${at}?include_rebase_in_progress=true`)).json)
      .toMatchObject({ rebase_in_progress: false, merge_error: `Rebase failed. ${pattern}`, sha: head })
  })

  test('a merge from a fork brings no commit that a push could not bring', async ({ world }) => {
    const author = await world.user()
    const target = await storedProject(world)
    target.repository.commit({ a: 'a' })
    const source = await forkOf(world, target, author)
    const opened = await openMergeRequest(world, { project: target, source, author, files: { id_rsa: 'secret' } })
    await world.root.post(`/projects/${target.id}/push_rule`, { prevent_secrets: true, commit_committer_check: true })
    expect((await world.root.put(`${opened.at}/merge`)).json).toMatchObject({
      state: 'opened',
      merge_error:
        'Something went wrong during merge pre-receive hook. File name id_rsa was blacklisted by the pattern id_rsa$.',
    })
    // The commits of the source branch were made by others.
    await world.root.put(`/projects/${target.id}/push_rule`, { prevent_secrets: false })
    expect((await world.root.put(`${opened.at}/merge`)).json).toMatchObject({ state: 'merged' })
  })
})
