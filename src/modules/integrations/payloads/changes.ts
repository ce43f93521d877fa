import { labelsOf, usersOf } from './blocks.ts'
import type { PayloadCtx } from './shown.ts'
import type { RecordedEvent } from './source.ts'

type Changes = Readonly<Record<string, readonly [before: unknown, now: unknown]>>

export const changesIn = ({ payload }: RecordedEvent): Changes => (payload['changes'] ?? {}) as Changes

const stateIds: Readonly<Record<string, number>> = { opened: 1, closed: 2, merged: 3, locked: 4 }

export const stateId = (state: unknown): number => stateIds[String(state)] ?? 1

const idsIn = (value: unknown): number[] =>
  Array.isArray(value)
    ? value.flatMap((each) => (typeof each === 'number' ? each : typeof each?.id === 'number' ? each.id : []))
    : []

/** The `changes` of a payload. */
export async function changesBlock(ctx: PayloadCtx, event: RecordedEvent): Promise<Record<string, object>> {
  const block: Record<string, object> = {}
  for (const [name, [previous, current]] of Object.entries(changesIn(event))) {
    if (name === 'state') block['state_id'] = { previous: stateId(previous), current: stateId(current) }
    else if (name === 'labels')
      block['labels'] = {
        previous: await labelsOf(ctx, idsIn(previous)),
        current: await labelsOf(ctx, idsIn(current)),
      }
    else if (name === 'assignee_ids' || name === 'reviewer_ids')
      block[name === 'assignee_ids' ? 'assignees' : 'reviewers'] = {
        previous: await usersOf(ctx, idsIn(previous)),
        current: await usersOf(ctx, idsIn(current)),
      }
    else if (name === 'force_remove_source_branch')
      block['merge_params'] = { previous: mergeParams(previous), current: mergeParams(current) }
    else block[name] = { previous, current }
  }
  return block
}

/** The `merge_params` of a merge request by its choice whether the source branch is deleted. */
export const mergeParams = (removesSourceBranch: unknown): { force_remove_source_branch?: '1' } =>
  removesSourceBranch ? { force_remove_source_branch: '1' } : {}

/** Attributes of an event that is an edit: who edited, and when if title or description changed. Edits before it are not stored. */
export function editOf(event: RecordedEvent) {
  const changes = changesIn(event)
  if (!event.kind.endsWith('_updated') || Object.keys(changes).length === 0) return {}
  const updated_by_id = event.actor_id
  if (!('title' in changes || 'description' in changes)) return { updated_by_id }
  return { updated_by_id, last_edited_by_id: event.actor_id, last_edited_at: event.happened_at }
}

/**
 * The attributes as they were when the event happened: what it recorded, and the values that it set, instead of those that later
 * changes set.
 */
export function atEvent<Row extends { description: string | null }>(row: Row, event: RecordedEvent): Row {
  const now = changesIn(event)['description']
  return { ...row, ...event.facts, ...(now && { description: now[1] as string | null }) }
}

const verbs: Readonly<Record<string, string>> = {
  opened: 'open',
  updated: 'update',
  closed: 'close',
  reopened: 'reopen',
  merged: 'merge',
  approved: 'approved',
  unapproved: 'unapproved',
}

/** The `action` of an event of an issue or merge request. */
export const actionOf = ({ kind }: RecordedEvent): string => verbs[kind.slice(kind.lastIndexOf('_') + 1)] ?? 'update'
