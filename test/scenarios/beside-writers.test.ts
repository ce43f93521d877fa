import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { everything } from '../reads.ts'
import { lockAllRows } from '../tables/instance.ts'
import { git, temporaryFolder, unique, World } from '../world.ts'

test('a read waits for no writer', async () => {
  await using world = await World.start()
  await world.settings({ search_rate_limit: 0 })
  const ann = await world.user()
  const group = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
  const project = await storedProject(world, { group })
  const mergeRequest = await openMergeRequest(world, { project, author: ann })
  const issue = await openIssue(world, { project, author: ann })
  const label = (await ann.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })).json
  const milestone = (await ann.post(`/projects/${project.id}/milestones`, { title: 'v1' })).json
  const board = (await ann.post(`/projects/${project.id}/boards`, { name: 'Plan' })).json
  const discussion = (await ann.post(`${mergeRequest.at}/discussions`, { body: 'Why?' })).json
  const words = {
    projects: `${project.id}`,
    groups: `${group.id}`,
    users: `${ann.id}`,
    namespaces: `${group.id}`,
    ':user_id': `${ann.id}`,
    ':merge_request_iid': `${mergeRequest.iid}`,
    ':issue_iid': `${issue.iid}`,
    ':label_id': `${label.id}`,
    ':milestone_id': `${milestone.id}`,
    ':board_id': `${board.id}`,
    ':discussion_id': discussion.id,
    ':note_id': `${discussion.notes[0].id}`,
    ':sha': mergeRequest.head,
    ':branch': 'main',
    ':file_path': 'a',
  }
  // What waits is refused with a 503 after a while.
  const answers = await world.db.transaction(async (tx) => {
    await lockAllRows(tx)
    return everything(ann, { words, each: {}, queries: [] })
  })
  const statuses = [...answers].map(([address, answer]) => [address, answer.slice(0, 3)] as const)
  expect(statuses.filter(([, status]) => status.startsWith('5'))).toEqual([])
  expect(statuses.filter(([, status]) => status === '200').length).toBeGreaterThan(150)
})

const added = { branch: 'main', commit_message: 'Add a' }

test('a clone waits for no writer', async () => {
  await using world = await World.start()
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'reporter']] })
  await world.root.post(`/projects/${project.id}/repository/files/a`, { ...added, content: 'a' })
  await using folder = await temporaryFolder()
  await world.db.transaction(async (tx) => {
    await lockAllRows(tx)
    await git(folder.path, 'clone', '-q', world.remote(project, ann), 'copy')
  })
  expect(readFileSync(join(folder.path, 'copy', 'a'), 'utf8')).toBe('a')
})

test('a change waits for no writer of other rows', async () => {
  await using world = await World.start()
  const ann = await world.user()
  const group = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
  const others = await storedProject(world, { group })
  await openMergeRequest(world, { project: others, author: ann })
  await openIssue(world, { project: others, author: ann })
  await world.db.transaction(async (tx) => {
    await lockAllRows(tx, 'no key update')
    const bob = await world.user()
    const { id } = (await bob.post('/projects', { name: 'own', visibility: 'public' })).json
    const commit = (branch: string, path: string) => ({
      ...{ branch, commit_message: 'Add a file' },
      actions: [{ action: 'create', file_path: path, content: path }],
    })
    const text = `@${ann.username}, see ${others.full_path}#1`
    for (const [method, path, body] of [
      ['post', 'repository/commits', commit('main', 'a')],
      ['post', 'repository/branches', { branch: 'topic', ref: 'main' }],
      ['post', 'repository/commits', commit('topic', 'b')],
      ['post', 'labels', { name: 'bug', color: '#ff0000' }],
      ['post', 'milestones', { title: 'v1' }],
      ['post', 'issues', { title: 'Broken', description: text, labels: 'bug' }],
      ['post', 'issues/1/notes', { body: text }],
      ['put', 'issues/1', { state_event: 'close' }],
      ['post', 'merge_requests', { title: 'Add b', source_branch: 'topic', target_branch: 'main' }],
      ['put', 'merge_requests/1/merge', {}],
      ['post', 'members', { user_id: ann.id, access_level: 30 }],
      ['post', 'hooks', { url: 'http://example.com' }],
      ['post', 'star', {}],
    ] as const) {
      const { status } = await bob[method](`/projects/${id}/${path}`, body)
      expect(`${path}: ${status}`).toMatch(/: 20[01]$/)
    }
    expect((await bob.post('/groups', { name: 'own', path: unique('own') })).status).toBe(201)
    expect((await bob.delete(`/projects/${id}`)).status).toBe(202)
  })
})
