import { expect } from 'vitest'
import type { HookReceiver } from '../../../../test/hook-receiver.ts'
import { type TestProject, unique, World } from '../../../../test/world.ts'
import { hookTimes } from './schedule.ts'

/** So that a test sees many retries and pauses. */
export const quick = { ...hookTimes, retry: 20, maxRetry: 200, pause: 50, maxPause: 200, request: 2_000 }

export const quickWorld = async (hookTimes = quick): Promise<World> => {
  const world = await World.start({}, { hookTimes })
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  return world
}

export async function hookFor(world: World, project: { id: number }, url: string, more: object = {}): Promise<string> {
  const flags = { push_events: false, issues_events: true, ...more }
  const made = await world.root.post(`/projects/${project.id}/hooks`, { url, ...flags })
  expect(made.status).toBe(201)
  return `/projects/${project.id}/hooks/${made.json.id}`
}

export const openIssue = async (world: World, { id }: { id: number }, title: string): Promise<string> =>
  `/projects/${id}/issues/${(await world.root.post(`/projects/${id}/issues`, { title })).json.iid}`

export const idOf = (at: string) => Number(at.split('/').at(-1))

export const titlesOf = (receiver: HookReceiver) => receiver.received.map(({ json }) => json.object_attributes.title)

export const commit = (world: World, { id }: TestProject, branch: string, more = {}) =>
  world.root.post(`/projects/${id}/repository/commits`, {
    branch,
    commit_message: 'x',
    actions: [{ action: 'create', file_path: unique('file'), content: 'x' }],
    ...more,
  })
