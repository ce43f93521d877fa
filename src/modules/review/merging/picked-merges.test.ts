import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

/** A merged merge request, and the branch `stable` at the commit before it. */
async function merged(world: World) {
  const opened = await openMergeRequest(world)
  const { project, at, base, iid } = opened
  project.repository.git('branch', 'stable', base)
  const { merge_commit_sha: sha } = (await world.root.put(`${at}/merge`)).json
  const commits = `/projects/${project.id}/repository/commits/${sha}`
  const call = (action: string, branch: string) => world.root.post(`${commits}/${action}`, { branch })
  return { ...opened, iid, sha, call }
}

describe('merge commits of merge requests', () => {
  test('a revert of a merge commit names the merge request', async ({ world }) => {
    const { call, iid } = await merged(world)
    const { status, json } = await call('revert', 'main')
    expect(status).toBe(201)
    expect(json.message).toBe(`Revert "Merge branch 'topic' into 'main'"\n\nThis reverts merge request !${iid}`)
    expect((await call('revert', 'main')).json.message).toContain('revert this merge request automatically')
  })

  test('a cherry-pick of a merge commit names the merge request and lists its commits', async ({ world }) => {
    const { call, sha, head, iid, project } = await merged(world)
    const { message } = (await call('cherry_pick', 'stable')).json
    expect(message).toContain(`See merge request ${project.full_path}!${iid}\n`)
    expect(message.endsWith(`(cherry picked from commit ${sha})\n\n${head.slice(0, 8)} Change topic`)).toBe(true)
  })
})
