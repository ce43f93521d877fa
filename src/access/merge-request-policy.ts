import type { Policy } from './policy.ts'
import { projectPolicy } from './project-policy.ts'

/**
 * Abilities on a merge request, by the facts of its target project. Facts: modules/review/merge-requests/subject.ts. Flags:
 * `own`, the caller is the author or an assignee; `locked`, only members may comment. For a note: `own_note`, the caller wrote it
 * and may still comment; `system_note`, it has no author. For approvals (modules/review/approvals/subject.ts):
 * `excluded`, the settings of the project keep the caller from approving, as author or committer; `approver`, the caller is asked to
 * approve it, or a rule names them.
 */
export const mergeRequestPolicy = {
  read_project: projectPolicy.read_project,
  read_merge_request: projectPolicy.read_merge_request,
  update_merge_request: { from: 'developer', feature: 'merge_requests', or: ['own'], unless: ['archived'] },
  /** Set assignees, labels and milestone, and lock the discussion. */
  admin_merge_request: { from: 'developer', feature: 'merge_requests', unless: ['archived'] },
  /** The protection of the target branch decides who may merge. */
  merge: { from: 'reporter', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
  /** Designated approvers, and users named by a rule, may approve as well. */
  approve: { from: 'developer', feature: 'merge_requests', or: ['approver'], unless: ['archived', 'excluded'] },
  /** Revoke the caller's own approval. */
  unapprove: { from: 'reporter', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
  /** Only bots of projects and groups may revoke the approvals of others; the endpoint checks that. */
  reset_approvals: { from: 'developer', feature: 'merge_requests', unless: ['archived'] },
  /** Role and protection in the source project decide who may push to the source branch. */
  rebase: { from: 'reporter', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
  /** As `rebase`: role and protection in the source project decide. */
  apply_suggestion: { from: 'reporter', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
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
  /** Edit or delete a note. */
  admin_note: { from: 'maintainer', or: ['own_note'], feature: 'merge_requests', unless: ['archived', 'system_note'] },
  /** Set the creation time of a note. */
  date_note: { from: 'owner', feature: 'merge_requests', unless: ['archived'] },
} as const satisfies Policy<string>
