import { expect } from 'vitest'
import { HookReceiver, type Received } from '../../../../test/hook-receiver.ts'
import { type Client, git, type TestProject, temporaryFolder, type World } from '../../../../test/world.ts'
import { projectTriggers } from '../hooks/triggers.ts'

/* What tests of payloads share: hooks with a receiver, and the blocks that payloads have in common. */

export const oid = expect.stringMatching(/^[0-9a-f]{40}$/)
export const nullOid = '0'.repeat(40)
export const text = expect.any(String)
export const number = expect.any(Number)
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
export const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)

/** Flags of hooks with a payload for each event; that of pushes as a whole has a test of its own. */
export const flags = projectTriggers.filter((flag) => flag !== 'repository_update_events')

export const allFlags = Object.fromEntries(flags.map((flag) => [flag, true]))

/** Block P of the supplement, "Shared blocks". */
export const currentProject = {
  id: number,
  name: text,
  description: text,
  web_url: text,
  avatar_url: null,
  git_ssh_url: text,
  git_http_url: text,
  namespace: text,
  visibility_level: 0,
  path_with_namespace: text,
  default_branch: expect.toBeOneOf([null, 'main']),
  ci_config_path: null,
}
export const projectBlock = { ...currentProject, homepage: text, url: text, ssh_url: text, http_url: text }
export const repositoryBlock = { name: text, url: text, description: text, homepage: text }
export const longRepositoryBlock = { ...repositoryBlock, git_http_url: text, git_ssh_url: text, visibility_level: 0 }
export const userBlock = {
  id: number,
  name: text,
  username: text,
  avatar_url: expect.toBeOneOf([null, text]),
  email: '',
}
export const commitBlock = {
  id: oid,
  message: text,
  title: text,
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  url: text,
  author: { name: 'Test Author', email: 'author@example.com' },
}
export const labelBlock = {
  id: number,
  title: text,
  color: text,
  project_id: number,
  created_at: time,
  updated_at: time,
  template: false,
  description: null,
  type: 'ProjectLabel',
  group_id: null,
}
export const issueAttributes = {
  author_id: number,
  closed_at: null,
  confidential: false,
  created_at: time,
  description: expect.toBeOneOf([null, text]),
  discussion_locked: expect.toBeOneOf([null, false]),
  due_date: null,
  id: number,
  iid: number,
  last_edited_at: null,
  last_edited_by_id: null,
  milestone_id: null,
  moved_to_id: null,
  duplicated_to_id: null,
  project_id: number,
  relative_position: expect.toBeOneOf([null, number]),
  state_id: 1,
  time_estimate: 0,
  title: text,
  updated_at: time,
  updated_by_id: null,
  weight: null,
  url: text,
  total_time_spent: 0,
  human_total_time_spent: null,
  human_time_estimate: null,
  assignee_ids: [],
  assignee_id: null,
  labels: [],
  state: 'opened',
}
export const mergeRequestAttributes = {
  assignee_id: null,
  author_id: number,
  created_at: time,
  description: expect.toBeOneOf([null, text]),
  head_pipeline_id: null,
  id: number,
  iid: 1,
  last_edited_at: null,
  last_edited_by_id: null,
  merge_commit_sha: null,
  merge_error: null,
  merge_params: { force_remove_source_branch: '1' },
  merge_status: text,
  merge_user_id: null,
  merge_when_pipeline_succeeds: false,
  milestone_id: null,
  source_branch: 'topic',
  source_project_id: number,
  state_id: 1,
  target_branch: 'main',
  target_project_id: number,
  time_estimate: 0,
  title: text,
  updated_at: time,
  updated_by_id: null,
  url: text,
  source: projectBlock,
  target: projectBlock,
  last_commit: commitBlock,
  work_in_progress: false,
  draft: false,
  total_time_spent: 0,
  human_total_time_spent: null,
  human_time_estimate: null,
  assignee_ids: [],
  reviewer_ids: [],
  labels: [],
  state: 'opened',
}
export const noteAttributes = {
  attachment: null,
  author_id: number,
  change_position: null,
  commit_id: null,
  created_at: time,
  discussion_id: expect.toBeOneOf([null, text]),
  id: number,
  line_code: null,
  note: text,
  noteable_id: number,
  noteable_type: text,
  original_position: null,
  position: null,
  project_id: number,
  resolved_at: null,
  resolved_by_id: null,
  resolved_by_push: null,
  st_diff: null,
  system: false,
  type: null,
  updated_at: time,
  updated_by_id: null,
  description: text,
  url: text,
}

export type Hooked = { receiver: HookReceiver; project: TestProject; hookId: number; hooks: string } & AsyncDisposable

/** A project with a hook for all events; jobs run until the end of the test. */
export async function hooked(world: World, more: object = allFlags): Promise<Hooked> {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  const [receiver, project] = [await HookReceiver.start(), await world.project()]
  const hooks = `/projects/${project.id}/hooks`
  const made = await world.root.post(hooks, { url: receiver.url, token: 'sesame', ...more })
  expect(made.status).toBe(201)
  await world.runJobs()
  const dispose = () => receiver[Symbol.asyncDispose]()
  return { receiver, project, hookId: made.json.id, hooks, [Symbol.asyncDispose]: dispose }
}

export const ofKind = (kind: string, action?: string) => (received: Received) =>
  received.json.object_kind === kind && (action === undefined || received.json.object_attributes?.action === action)

export async function withContent(world: World, project: TestProject, who: Client = world.root) {
  await using work = await temporaryFolder()
  const run = (...args: string[]) => git(work.path, ...args)
  await run('init', '-q', '-b', 'main')
  await run('commit', '-q', '--allow-empty', '-m', 'first')
  await run('push', '-q', world.remote(project, who), 'main')
  await run('checkout', '-q', '-b', 'topic')
  await run('commit', '-q', '--allow-empty', '-m', 'topic')
  await run('push', '-q', world.remote(project, who), 'topic')
}

/** A merge request of the branch that `withContent` pushed. */
export const openTopic = async (world: World, { id }: { id: number }, title: string) =>
  (await world.root.post(`/projects/${id}/merge_requests`, { source_branch: 'topic', target_branch: 'main', title }))
    .json

export const commitTo = (world: World, { id }: { id: number }, branch: string, actions: readonly object[], more = {}) =>
  world.root.post(`/projects/${id}/repository/commits`, { branch, commit_message: 'Change files', actions, ...more })

export const tipOf = async (world: World, { id }: { id: number }): Promise<string> =>
  (await world.root.get(`/projects/${id}/repository/branches/main`)).json.commit.id
