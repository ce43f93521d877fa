import type { Policy } from './policy.ts'

/** Abilities on a project. Facts: areas/projects/subject.ts. */
export const projectPolicy = {
  read_project: { from: 'guest', open: 'anyone' },
  read_code: { from: 'reporter', open: 'anyone', feature: 'repository' },
  read_statistics: { from: 'reporter' },
  read_member: { from: 'guest', open: 'signed_in' },
  comment_commit: { from: 'reporter', open: 'signed_in', feature: 'repository', unless: ['archived'] },
  /** To ask for a commit: the refusal names the branch, so `push_code` and its protection are looked at with that. */
  request_commit: { from: 'guest', open: 'signed_in' },
  push_code: { from: 'developer', feature: 'repository', unless: ['archived'] },
  /** To an empty repository, where the setting keeps that for maintainers. */
  push_first_commit: { from: 'maintainer', feature: 'repository', unless: ['archived'] },
  admin_tag: { from: 'developer', feature: 'repository', unless: ['archived'] },
  delete_protected_branch: { from: 'maintainer', feature: 'repository', unless: ['archived'] },
  admin_protected_ref: { from: 'maintainer' },
  admin_member: { from: 'maintainer' },
  admin_deploy_key: { from: 'maintainer' },
  admin_project: { from: 'maintainer' },
  rename_project: { from: 'owner' },
  change_visibility: { from: 'owner' },
  remove_project: { from: 'owner' },
} as const satisfies Policy<string>

export type ProjectAbility = keyof typeof projectPolicy
