import { Type } from 'typebox'
import type { Oid } from '../../git/format/oid.ts'
import { changes, event, id, ids, number, optional, text, texts } from './declare.ts'

const holder = ['project', 'group'] as const

const mergeRequest = {
  payload: { merge_request_id: id, iid: number, changes, old_head_oid: optional(text) },
}
const oid = Type.Unsafe<Oid>(Type.String())
const note = {
  note_id: id,
  noteable_type: text,
  noteable_id: optional(id),
  noteable_iid: optional(number),
  discussion_id: optional(text),
  commit_id: optional(text),
}
const idOrNone = Type.Unsafe<number | null>(Type.Union([Type.Integer(), Type.Null()]))
const noteable = { noteable_type: text, noteable_id: id, noteable_iid: number, note_id: idOrNone }
const discussion = { payload: { ...noteable, discussion_id: text } }
const award = { payload: { award_emoji_id: id, name: text, ...noteable } }
const approvalRule = {
  payload: { approval_rule_id: id, merge_request_id: optional(id) },
  facts: { name: text },
}
const approvalRuleTarget = { type: 'ApprovalRule', id: 'approval_rule_id', name: 'name' } as const
const milestone = { payload: { milestone_id: id, iid: number } }

/** Events of merge requests, of notes on them and on commits, and of labels and milestones. */
export const reviewEvents = {
  merge_request_opened: event('A merge request is opened', ['project'], {
    ...mergeRequest,
    feed: { action: 'created' },
  }),
  merge_request_updated: event('A merge request changes: an attribute, its head, its approvals', ['project'], {
    ...mergeRequest,
  }),
  merge_request_closed: event('A merge request is closed', ['project'], {
    ...mergeRequest,
    feed: { action: 'closed' },
  }),
  merge_request_reopened: event('A merge request is open again', ['project'], {
    ...mergeRequest,
    feed: { action: 'reopened' },
  }),
  merge_request_merged: event('A merge request is merged', ['project'], {
    ...mergeRequest,
    feed: { action: 'merged' },
  }),
  merge_request_deleted: event('A merge request is deleted', ['project'], { ...mergeRequest }),
  suggestion_applied: event('A user applies a change that a note suggests', ['project'], {
    payload: { merge_request_id: id, iid: number, suggestion_id: id, note_id: id, commit: oid },
  }),
  merge_request_approved: event('A user approves a merge request', ['project'], { ...mergeRequest }),
  merge_request_unapproved: event('A user withdraws an approval', ['project'], { ...mergeRequest }),

  approval_settings_changed: event('The settings of a project for approvals change', ['project'], {
    payload: { changed: texts },
    audit: { verb: 'change', noun: 'approval_settings' },
  }),
  approval_rule_created: event('A group, project or merge request gets a rule for approvals', holder, {
    ...approvalRule,
    audit: { verb: 'add', noun: 'approval_rule', target: approvalRuleTarget },
  }),
  approval_rule_updated: event('A rule for approvals changes', holder, {
    ...approvalRule,
    audit: { verb: 'change', noun: 'approval_rule', target: approvalRuleTarget },
  }),
  approval_rule_deleted: event('A rule for approvals is deleted', holder, {
    ...approvalRule,
    audit: { verb: 'remove', noun: 'approval_rule', target: approvalRuleTarget },
  }),

  merge_request_auto_merge_enabled: event('A merge request is to be merged when its pipeline succeeds', ['project'], {
    payload: { merge_request_id: id, iid: number, sha: oid },
    facts: { source_project_id: id, source_branch: text },
  }),
  merge_request_merge_failed: event('A merge is given up, and the merge request is open again', ['project'], {
    payload: { merge_request_id: id, iid: number },
    facts: { source_project_id: idOrNone },
  }),

  note_created: event('A user comments on an issue, merge request, epic or commit', holder, {
    payload: note,
    feed: { action: 'commented', inGroups: true },
  }),
  note_updated: event('A comment changes', holder, { payload: note }),
  note_deleted: event('A comment is deleted', holder, { payload: note }),
  discussion_resolved: event('A discussion is resolved', holder, discussion),
  discussion_unresolved: event('A discussion is open again', holder, discussion),
  award_emoji_given: event('A user awards an emoji', holder, award),
  award_emoji_withdrawn: event('A user withdraws an emoji', holder, award),

  label_created: event(
    'A label is created, also by an issue, merge request or epic that names it; not as a copy',
    holder,
    { payload: { label_id: id } },
  ),
  label_updated: event('A label changes', holder, { payload: { label_id: id } }),
  label_deleted: event('A label is deleted', holder, { payload: { label_id: id } }),
  label_promoted: event('A label of a project becomes one of its group', holder, { payload: { label_id: id } }),
  milestone_created: event('A milestone is created', holder, { ...milestone, feed: { action: 'created' } }),
  milestone_updated: event('A milestone changes', holder, milestone),
  milestone_closed: event('A milestone is closed', holder, { ...milestone, feed: { action: 'closed' } }),
  milestone_reopened: event('A milestone is open again', holder, { ...milestone, feed: { action: 'reopened' } }),
  milestone_deleted: event('A milestone is deleted', holder, { ...milestone, feed: { action: 'destroyed' } }),
  milestones_replaced: event('A milestone of a group replaces those of projects below it', ['group'], {
    payload: { milestone_id: id },
    facts: { replaced_ids: ids },
  }),
  milestone_promoted: event('A milestone of a project becomes one of its group', holder, milestone),
}
