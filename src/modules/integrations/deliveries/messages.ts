import type { Ctx } from '../../../api/ctx.ts'
import { isFiltered } from '../hooks/branch-filter.ts'
import { systemEvents, type Trigger } from '../hooks/triggers.ts'
import { changesIn } from '../payloads/changes.ts'
import { refsOfPush } from '../payloads/push.ts'
import { confidentialAmong } from '../payloads/queries.ts'
import { idIn, type RecordedEvent, textIn } from '../payloads/source.ts'
import type { ServedBranches } from '../services/branches.ts'
import type { ReceiverRow } from './expand-queries.ts'

/** What an event is for hooks with a flag: one payload about one resource. */
export type Message = {
  readonly trigger: Trigger
  readonly part: number
  /** Deliveries about the same resource are sent in order. */
  readonly resource: string
  /** Of a pushed branch, or the one that a pipeline ran for. */
  readonly branch?: string
}

/** A change of only these attributes is not sent: clients order boards without changing issues. */
const silent: ReadonlySet<string> = new Set(['relative_position'])

/** Only failed sign-ins to accounts in these states are sent. */
const blockedStates: ReadonlySet<string> = new Set(['blocked', 'ldap_blocked', 'banned'])

const isSilent = (event: RecordedEvent): boolean => {
  const names = Object.keys(changesIn(event))
  return names.length > 0 && names.every((name) => silent.has(name))
}

/**
 * What an event is for hooks. An issue is confidential if it was or if it is now: among the ids of `confidential`. Source: supplement to
 * the API documents, "Selection".
 */
export async function messagesOf(
  ctx: Ctx,
  event: RecordedEvent,
  confidential: ReadonlySet<number>,
): Promise<readonly Message[]> {
  const { kind, project_id, group_id, payload, facts } = event
  const isHidden = (issueId: number) => facts['confidential'] === true || confidential.has(issueId)
  const one = (trigger: Trigger, resource: string): Message[] => [{ trigger, part: 0, resource }]
  const inProject = (noun: string) => `project ${project_id}: ${noun}`
  switch (kind) {
    case 'pushed':
      return pushMessages(ctx, event)
    case 'issue_opened':
    case 'issue_updated':
    case 'issue_closed':
    case 'issue_reopened': {
      if (isSilent(event)) return []
      const id = idIn(payload, 'issue_id')
      return one(isHidden(id) ? 'confidential_issues_events' : 'issues_events', `issue ${id}`)
    }
    case 'note_created': {
      const id = idIn(payload, 'noteable_id')
      const type = textIn(payload, 'noteable_type')
      // Payloads of notes have a project.
      if (type === 'Epic') return []
      const hidden = type === 'Issue' && isHidden(id)
      const about = type === 'Commit' ? inProject(`commit ${textIn(payload, 'commit_id')}`) : `${type} ${id}`
      return one(hidden ? 'confidential_note_events' : 'note_events', `notes of ${about}`)
    }
    case 'pipeline_changed':
      return one('pipeline_events', `pipeline ${idIn(payload, 'pipeline_id')}`).map((message) => ({
        ...message,
        ...(facts['tag'] === false && { branch: textIn(facts, 'ref') ?? '' }),
      }))
    case 'commit_status_changed':
      return one('job_events', `job ${idIn(payload, 'status_id')}`)
    case 'release_created':
    case 'release_updated':
    case 'release_deleted':
      return one('releases_events', inProject(`release ${textIn(payload, 'tag')}`))
    case 'wiki_page_created':
    case 'wiki_page_updated':
    case 'wiki_page_deleted':
      return one('wiki_page_events', `wiki page ${idIn(payload, 'wiki_page_id')}`)
    case 'member_added':
    case 'member_updated':
    case 'member_removed': {
      const resource = `member ${idIn(payload, 'user_id')} of ${group_id === null ? inProject('') : `group ${group_id}`}`
      return [...(group_id === null ? [] : one('member_events', resource)), ...one(systemEvents, resource)]
    }
    case 'group_created':
    case 'group_deleted':
      return [...one('subgroup_events', `group ${group_id}`), ...one(systemEvents, `group ${group_id}`)]
    case 'group_updated':
      return textIn(facts, 'old_full_path') === null ? [] : one(systemEvents, `group ${group_id}`)
    case 'user_updated':
      return textIn(facts, 'old_username') === null ? [] : one(systemEvents, `user ${idIn(payload, 'user_id')}`)
    case 'sign_in_failed':
      return blockedStates.has(textIn(facts, 'state') ?? '')
        ? one(systemEvents, `user ${idIn(payload, 'user_id')}`)
        : []
    case 'user_created':
    case 'user_deleted':
    case 'ssh_key_added':
    case 'ssh_key_removed':
      return one(systemEvents, `user ${idIn(payload, 'user_id')}`)
    case 'project_created':
    case 'project_deleted':
    case 'project_renamed':
    case 'project_transferred':
    case 'project_updated':
      return one(systemEvents, inProject('itself'))
    default:
      return one('merge_requests_events', `merge request ${idIn(payload, 'merge_request_id')}`)
  }
}

/** The issues that events are about, or notes on them. */
const issueOf = ({ payload }: RecordedEvent): number =>
  payload['noteable_type'] === 'Issue' ? idIn(payload, 'noteable_id') : idIn(payload, 'issue_id')

/** The issues of events that are confidential now. One statement, or none. */
export const confidentialIssues = (ctx: Ctx, events: readonly RecordedEvent[]): Promise<ReadonlySet<number>> =>
  confidentialAmong(
    ctx.db,
    events.map(issueOf).filter((id) => id > 0),
  )

/** A push that moves more branches than the setting says is not sent to hooks for pushes; the same for tags. */
async function pushMessages(ctx: Ctx, event: RecordedEvent): Promise<Message[]> {
  const { branches, tags } = await refsOfPush(ctx, event)
  const limit = ctx.settings.push_event_hooks_limit
  const of = (trigger: Trigger, refs: typeof branches): Message[] =>
    refs.length > limit
      ? []
      : refs.map(({ change, part, short }) => ({
          trigger,
          part,
          resource: `project ${event.project_id}: ${change.name}`,
          ...(trigger === 'push_events' && { branch: short }),
        }))
  const whole = {
    trigger: 'repository_update_events',
    part: -1,
    resource: `project ${event.project_id}: refs`,
  } as const
  return [
    ...of('push_events', branches),
    ...of('tag_push_events', tags),
    ...(branches.length + tags.length > 0 ? [whole] : []),
  ]
}

/** Whether a hook or a service receives a message about an event at its place. */
export function receives(
  hook: ReceiverRow,
  event: RecordedEvent,
  message: Message,
  branches: ServedBranches | undefined,
): boolean {
  const { trigger, branch } = message
  if (!hook.triggers.includes(trigger)) return false
  if (hook.service !== null) return isNotified(hook, event, message, branches)
  if (trigger === 'push_events' && branch !== undefined && isFiltered(hook.branch_filter, branch)) return false
  // A group is a subgroup for the groups above it.
  return trigger !== 'subgroup_events' || hook.namespace_id !== event.group_id
}

/** Whether a service whose flag is set is notified. */
function isNotified(
  { properties }: ReceiverRow,
  { kind, facts }: RecordedEvent,
  { trigger, branch }: Message,
  branches: ServedBranches | undefined,
): boolean {
  // A chat would show each edit of a text.
  if (kind === 'issue_updated' || kind === 'merge_request_updated') return false
  const { branches_to_be_notified: set, notify_only_broken_pipelines: onlyBroken } = properties!
  if (trigger === 'pipeline_events' && facts['status'] !== 'failed' && (facts['status'] !== 'success' || onlyBroken))
    return false
  return branch === undefined || branches?.has(set, branch) === true
}
