import { instancePolicy } from './instance-policy.ts'
import type { Policy } from './policy.ts'
import { projectPolicy } from './project-policy.ts'

/**
 * Abilities on a snippet of a project, by the facts of the project. Facts: modules/text/snippets/subject.ts. Flags: `hidden`, its own
 * visibility hides it from the caller, who is neither its author nor a member; `own`, the caller is the author; `internal_of_other`, it is
 * internal, and the caller is neither its author nor an administrator. For a note: `own_note`, the caller wrote it; `system_note`, it has no
 * author.
 */
export const snippetPolicy = {
  read_project: projectPolicy.read_project,
  read_snippet: { ...projectPolicy.read_snippet, unless: ['hidden'] },
  /** Change its attributes and files, also by git. Authors need access to the project; all abilities imply that. */
  update_snippet: {
    from: 'maintainer',
    feature: 'snippets',
    or: ['own'],
    unless: ['archived', 'hidden', 'internal_of_other'],
  },
  remove_snippet: {
    from: 'maintainer',
    feature: 'snippets',
    or: ['own'],
    unless: ['archived', 'hidden', 'internal_of_other'],
  },
  /** Read where the request to create it came from. */
  read_user_agent: { from: 'administrator', feature: 'snippets' },
  comment: { from: 'guest', open: 'signed_in', feature: 'snippets', unless: ['archived', 'hidden'] },
  award: { from: 'guest', open: 'signed_in', feature: 'snippets', unless: ['archived', 'hidden', 'system_note'] },
  /** Edit or delete a note. */
  admin_note: {
    from: 'maintainer',
    or: ['own_note'],
    feature: 'snippets',
    unless: ['archived', 'hidden', 'system_note'],
  },
  /** Set the creation time of a note. */
  date_note: { from: 'owner', feature: 'snippets', unless: ['archived', 'hidden'] },
} as const satisfies Policy<string>

/** Abilities on a personal snippet, which its author owns. Facts: modules/text/snippets/personal-subject.ts. */
export const personalSnippetPolicy = {
  read_snippet: { from: 'owner', open: 'anyone' },
  update_snippet: { from: 'owner' },
  remove_snippet: { from: 'owner' },
  read_user_agent: { from: 'administrator' },
} as const satisfies Policy<string>

/** Abilities on all personal snippets together. Flag: `external`, the caller is an external user. */
export const snippetsPolicy = {
  browse: instancePolicy.browse,
  list_own: instancePolicy.use,
  list_all: instancePolicy.administer,
  create_snippet: { from: 'owner', open: 'signed_in', unless: ['external'] },
} as const satisfies Policy<string>
