import type { Policy } from './policy.ts'
import { projectPolicy } from './project-policy.ts'

/**
 * Abilities on a commit, by the facts of its project. Facts: modules/repository/commit-comments/subject.ts. For a note: `own_note`, the
 * caller wrote it; `system_note`, it has no author.
 */
export const commitPolicy = {
  read_project: projectPolicy.read_project,
  read_code: projectPolicy.read_code,
  comment: { from: 'reporter', open: 'signed_in', feature: 'repository', unless: ['archived', 'importing'] },
  award: {
    from: 'reporter',
    open: 'signed_in',
    feature: 'repository',
    unless: ['archived', 'importing', 'system_note'],
  },
  /** Edit or delete a note. Authors need access to the code; all abilities imply that. */
  admin_note: {
    from: 'maintainer',
    or: ['own_note'],
    feature: 'repository',
    unless: ['archived', 'importing', 'system_note'],
  },
  /** Set the creation time of a note. */
  date_note: { from: 'owner', feature: 'repository', unless: ['archived', 'importing'] },
} as const satisfies Policy<string>
