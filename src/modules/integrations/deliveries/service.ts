import type { Ctx } from '../../../api/ctx.ts'
import { Failure, rowNotFound } from '../../../kernel/failure.ts'
import type { HookedEvent } from '../hook-events/rules.ts'
import type { HookHolder } from '../hooks/holder.ts'
import { getHook } from '../hooks/service.ts'
import { type Flag, systemEvents, type Trigger } from '../hooks/triggers.ts'
import { wakeSender } from '../hooks/wake-queries.ts'
import { lockQueue } from './expand-queries.ts'
import {
  type DeliveryRow,
  endPause,
  findDelivery,
  insertTest,
  replayDeliveries,
  resendDelivery,
} from './log-queries.ts'
import { findSample, type Sample } from './sample-queries.ts'

/** The event that tests a flag, and what it needs. */
const tested: Readonly<Record<Flag, readonly [kind: HookedEvent, needs: string]>> = {
  push_events: ['pushed', 'commits'],
  tag_push_events: ['pushed', 'tags'],
  repository_update_events: ['pushed', 'commits'],
  issues_events: ['issue_opened', 'issues'],
  confidential_issues_events: ['issue_opened', 'confidential issues'],
  note_events: ['note_created', 'notes'],
  confidential_note_events: ['note_created', 'notes on confidential issues'],
  merge_requests_events: ['merge_request_opened', 'merge requests'],
  job_events: ['commit_status_changed', 'jobs'],
  pipeline_events: ['pipeline_changed', 'pipelines'],
  wiki_page_events: ['wiki_page_created', 'wiki pages'],
  releases_events: ['release_created', 'releases'],
  member_events: ['member_added', 'members'],
  subgroup_events: ['group_created', 'subgroups'],
}

/** Facts of events that a test makes up. */
const made: Readonly<Partial<Record<Flag, object>>> = {
  wiki_page_events: {
    title: 'Home',
    content: 'A page',
    format: 'markdown',
    message: 'Create the page',
    slug: 'home',
  },
  subgroup_events: { name: 'Subgroup', path: 'subgroup', full_path: 'group/subgroup' },
}

async function sampleOf(ctx: Ctx, holder: HookHolder, flag: Flag): Promise<Sample> {
  if (made[flag]) {
    const place = {
      project_id: holder.of === 'project' ? holder.id : null,
      group_id: holder.of === 'group' ? holder.id : null,
    }
    return { ...place, actor_id: ctx.actor!.id, payload: {}, part: 0 }
  }
  const sample = await findSample(ctx.db, holder, flag)
  if (!sample) throw new Failure('unprocessable', `Ensure the ${holder.of} has ${tested[flag][1]}.`)
  return sample
}

/**
 * Sends the newest record of a kind to a hook, whatever its flags are. Throws `unprocessable` without such a record. The flag of wiki
 * pages is tested with a page that is made up.
 */
export async function testHook(ctx: Ctx, holder: HookHolder, hookId: number, flag: Flag): Promise<DeliveryRow> {
  await getHook(ctx, holder, hookId)
  const sample = await sampleOf(ctx, holder, flag)
  const facts = { ...made[flag], ...(holder.of === 'group' && made[flag] && { parent_id: holder.id }) }
  return queue(ctx, hookId, { ...sample, kind: tested[flag][0], trigger: flag, facts })
}

export const exampleProject = {
  name: 'Ruby',
  path: 'ruby',
  project_id: 1,
  owner_name: 'Someone',
  owner_email: 'example@example.com',
} as const

/** Sends an event about a project that does not exist to a system hook. */
export async function testSystemHook(ctx: Ctx, holder: HookHolder, hookId: number): Promise<DeliveryRow> {
  await getHook(ctx, holder, hookId)
  const { project_id, ...facts } = exampleProject
  const example = { project_id, group_id: null, actor_id: ctx.actor!.id, payload: {}, part: 0 }
  return queue(ctx, hookId, { ...example, kind: 'project_created', trigger: systemEvents, facts })
}

type Test = Omit<Sample, 'payload'> & { kind: string; trigger: Trigger; payload: object; facts: object }

const queue = (ctx: Ctx, hookId: number, event: Test): Promise<DeliveryRow> =>
  ctx.transaction(async (tx) => {
    const id = await insertTest(tx, hookId, event)
    // The insert waits for changes of the hook.
    await tx.requirePermission?.()
    if (id === undefined) throw rowNotFound()
    await endPause(tx, hookId)
    await wakeSender(tx)
    return (await findDelivery(tx, hookId, id))!
  })

/** Sends an event of a hook or service again, with the same ids, also if it was received. */
export const resend = (ctx: Ctx, hookId: number, id: number): Promise<DeliveryRow> =>
  ctx.transaction(async (tx) => {
    const again = await resendDelivery(tx, hookId, id)
    await tx.requirePermission?.()
    if (again === undefined) throw rowNotFound()
    await endPause(tx, hookId)
    await wakeSender(tx)
    return (await findDelivery(tx, hookId, again))!
  })

/** Sends all events since a time again, in order and with the same ids. */
export const replay = (ctx: Ctx, hookId: number, since: Date): Promise<{ queued: number }> =>
  ctx.transaction(async (tx) => {
    await lockQueue(tx)
    await tx.requirePermission?.()
    const queued = await replayDeliveries(tx, hookId, since)
    await endPause(tx, hookId)
    await wakeSender(tx)
    return { queued }
  })
