import { jobRows } from '../jobs.ts'
import type { World } from '../world.ts'
import { allAuditEvents, eventsOf } from './events.ts'
import { ago, change, find, now } from './statements.ts'

/** The pull mirror of a project; an empty list if it is none. */
export const pullMirrorOf = (world: World, project_id: number) => find(world, 'pull_mirrors', { project_id })

/** All mirrors of a kind, with every column. */
export const mirrorRows = (world: World, table: 'pull_mirrors' | 'push_mirrors') => find(world, table, {})

const minutesUntilNext = ['round(extract(epoch from next_at - last_update_at) / 60)::integer as minutes']

/** Minutes from the last update of a project to the next; null if there is none. */
export async function minutesToNextPull(world: World, project_id: number): Promise<number | null> {
  const [{ minutes }] = await find(world, 'pull_mirrors', { project_id }, minutesUntilNext)
  return minutes
}

/** Minutes from the last update of a push mirror to the next attempt; null if there is none. */
export async function minutesToNextPush(world: World, id: number): Promise<number | null> {
  const [{ minutes }] = await find(world, 'push_mirrors', { id }, minutesUntilNext)
  return minutes
}

/** The next update of every pull mirror is overdue, and none is queued. */
export const makePullsDue = (world: World) =>
  change(world, 'pull_mirrors', {}, { queued_at: null, next_at: ago('1 hour') })

/** The next updates were planned, and the last ones queued, before the clock was set back by a day. */
export const planPullsAhead = (world: World) =>
  change(world, 'pull_mirrors', {}, { queued_at: ago('-1 day'), next_at: ago('-1 day') })

export const makePushesDue = (world: World, id: readonly number[]) =>
  change(world, 'push_mirrors', { id }, { next_at: now })

/** All rows in which credentials of a mirror could be: of jobs, events, mirrors, and the project. */
export const rowsThatCouldHaveCredentials = async (world: World, projectId: number) => [
  await jobRows(world),
  await eventsOf(world, {}),
  await allAuditEvents(world),
  await mirrorRows(world, 'pull_mirrors'),
  await mirrorRows(world, 'push_mirrors'),
  await find(world, 'projects', { id: projectId }),
]
