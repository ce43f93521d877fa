import type { Policy } from './policy.ts'
import { projectPolicy } from './project-policy.ts'

/**
 * Abilities on an issue, by the facts of its project. Facts: modules/planning/issues/subject.ts. Flags: `hidden`, the issue is
 * confidential and the caller is neither its author, nor an assignee, nor a reporter; `own`, the caller is the author or an assignee;
 * `locked`, only members may comment; `locked_for_all`, the discussion is locked. For a note: `own_note`, the caller wrote it and may still
 * comment; `system_note`, it has no author.
 */
export const issuePolicy = {
  read_project: projectPolicy.read_project,
  read_issue: { ...projectPolicy.read_issue, unless: ['hidden'] },
  /** Authors and assignees need access to the project; all abilities imply that. */
  update_issue: { from: 'reporter', feature: 'issues', or: ['own'], unless: ['archived', 'hidden'] },
  /** Set assignees, labels, milestone, due date, weight and epic, and lock the discussion. */
  admin_issue: { from: 'reporter', feature: 'issues', unless: ['archived', 'hidden'] },
  reopen_issue: {
    from: 'reporter',
    feature: 'issues',
    or: ['own'],
    unless: ['archived', 'hidden', 'locked_for_all'],
  },
  move_issue: { from: 'reporter', feature: 'issues', unless: ['archived', 'hidden'] },
  remove_issue: { from: 'owner', feature: 'issues', unless: ['archived', 'hidden'] },
  /** Read where the request to create it came from. */
  read_user_agent: { from: 'administrator', feature: 'issues', unless: ['hidden'] },
  comment: {
    from: 'guest',
    open: 'signed_in',
    openUnless: ['locked'],
    feature: 'issues',
    unless: ['archived', 'hidden'],
  },
  award: {
    from: 'guest',
    open: 'signed_in',
    openUnless: ['locked'],
    feature: 'issues',
    unless: ['archived', 'hidden', 'system_note'],
  },
  /** Edit or delete a note. */
  admin_note: {
    from: 'maintainer',
    or: ['own_note'],
    feature: 'issues',
    unless: ['archived', 'hidden', 'system_note'],
  },
  /** Set the creation time of a note, and number and times of an issue. */
  date_note: { from: 'owner', feature: 'issues', unless: ['archived', 'hidden'] },
} as const satisfies Policy<string>
