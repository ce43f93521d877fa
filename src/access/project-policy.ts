import type { Policy } from './policy.ts'

/** Abilities on a project. Facts: areas/projects/subject.ts. While a project is `importing`, its repository is being made. */
export const projectPolicy = {
  read_project: { from: 'guest', open: 'anyone' },
  read_code: { from: 'reporter', open: 'anyone', feature: 'repository' },
  /** Whoever reads the code may copy it, where forks are on. */
  fork_project: { from: 'reporter', open: 'signed_in', feature: 'forking', unless: ['importing'] },
  /** The relation to a source is the owners'. */
  link_fork: { from: 'owner' },
  /** Whoever reads it may star it. */
  star_project: { from: 'guest', open: 'signed_in' },
  read_statistics: { from: 'reporter' },
  read_member: { from: 'guest', open: 'signed_in' },
  comment_commit: { from: 'reporter', open: 'signed_in', feature: 'repository', unless: ['archived'] },
  /** To ask for a commit: the refusal names the branch, so `push_code` and its protection are looked at with that. */
  request_commit: { from: 'guest', open: 'signed_in' },
  push_code: { from: 'developer', feature: 'repository', unless: ['archived', 'importing'] },
  /** To an empty repository, where the setting keeps that for maintainers. */
  push_first_commit: { from: 'maintainer', feature: 'repository', unless: ['archived', 'importing'] },
  admin_tag: { from: 'developer', feature: 'repository', unless: ['archived', 'importing'] },
  /** To take away what somebody else locked. */
  force_unlock: { from: 'maintainer', feature: 'repository', unless: ['archived'] },
  delete_protected_branch: { from: 'maintainer', feature: 'repository', unless: ['archived', 'importing'] },
  admin_protected_ref: { from: 'maintainer' },
  admin_member: { from: 'maintainer' },
  share_project: { from: 'maintainer' },
  keep_house: { from: 'maintainer' },
  admin_project: { from: 'maintainer' },
  rename_project: { from: 'owner' },
  change_visibility: { from: 'owner' },
  transfer_project: { from: 'owner' },
  archive_project: { from: 'owner' },
  remove_project: { from: 'owner' },
  restore_project: { from: 'owner' },
} as const satisfies Policy<string>

export type ProjectAbility = keyof typeof projectPolicy
