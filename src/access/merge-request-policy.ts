import type { Policy } from './policy.ts'
import { projectPolicy } from './project-policy.ts'

/**
 * Abilities on a merge request, by the facts of its target project. Facts: modules/review/merge-requests/subject.ts. Flag `own`: the caller
 * is its author or an assignee; `locked`: only members go on talking. Of a note: `said` by the caller, who may still talk;
 * `system_note`: written by nobody. Where approvals are asked about (modules/review/approvals/subject.ts): `author`, the caller wrote it;
 * `approver`, he is asked to approve it.
 */
export const mergeRequestPolicy = {
  read_project: projectPolicy.read_project,
  read_merge_request: projectPolicy.read_merge_request,
  update_merge_request: { from: 'developer', feature: 'merge_requests', or: ['own'], unless: ['archived'] },
  /** Assignees, labels, milestone, and whether its discussion is locked. */
  admin_merge_request: { from: 'developer', feature: 'merge_requests', unless: ['archived'] },
  /** Who gets it into the target branch is decided by the protection of that. */
  merge: { from: 'reporter', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
  /** Those whom it was asked of may, too; its author never. */
  approve: { from: 'developer', feature: 'merge_requests', or: ['approver'], unless: ['archived', 'author'] },
  /** To take back that one did. */
  unapprove: { from: 'reporter', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
  /** Who pushes to the source branch is decided by role and protection there. */
  rebase: { from: 'reporter', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
  remove_merge_request: { from: 'owner', feature: 'merge_requests', unless: ['archived'] },
  comment: {
    from: 'reporter',
    open: 'signed_in',
    openUnless: ['locked'],
    feature: 'merge_requests',
    unless: ['archived'],
  },
  award: {
    from: 'reporter',
    open: 'signed_in',
    openUnless: ['locked'],
    feature: 'merge_requests',
    unless: ['archived', 'system_note'],
  },
  resolve_discussion: { from: 'developer', feature: 'merge_requests', or: ['own'], unless: ['archived'] },
  /** To change what was said, or take it back. */
  admin_note: { from: 'maintainer', or: ['said'], feature: 'merge_requests', unless: ['archived', 'system_note'] },
  /** To say when something was said. */
  date_note: { from: 'owner', feature: 'merge_requests', unless: ['archived'] },
} as const satisfies Policy<string>

export type MergeRequestAbility = keyof typeof mergeRequestPolicy
