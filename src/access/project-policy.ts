import type { Policy } from './policy.ts'

/** Abilities on a project. Facts: modules/projects/projects/subject.ts. While a project is `importing`, its repository is being made. */
export const projectPolicy = {
  read_project: { from: 'guest', open: 'anyone' },
  read_code: { from: 'reporter', open: 'anyone', feature: 'repository' },
  /** Whoever reads the code may copy it, where forks are on. */
  fork_project: { from: 'reporter', open: 'signed_in', feature: 'forking', unless: ['importing'] },
  /** The relation to a source is the owners'. */
  link_fork: { from: 'owner' },
  /** Whoever reads it may star it. */
  star_project: { from: 'guest', open: 'signed_in' },
  upload_file: { from: 'guest', open: 'signed_in', unless: ['archived'] },
  admin_upload: { from: 'maintainer' },
  remove_upload: { from: 'maintainer', unless: ['archived'] },
  /** Needs a token as nothing else that reads does: a search costs more than a page. */
  search_project: { from: 'guest', open: 'signed_in' },
  read_statistics: { from: 'reporter' },
  read_member: { from: 'guest', open: 'signed_in' },
  comment_commit: { from: 'reporter', open: 'signed_in', feature: 'repository', unless: ['archived'] },
  /** What others said. */
  admin_note: { from: 'maintainer', unless: ['archived'] },
  read_commit_status: { from: 'reporter', open: 'signed_in', feature: 'builds' },
  create_commit_status: { from: 'developer', feature: 'builds', unless: ['archived'] },
  /** Guests of a private project read pipelines and jobs only where jobs are public; strangers anywhere read jobs only there. */
  read_pipeline: { from: 'reporter', open: 'anyone', feature: 'builds', or: ['guest_of_public_jobs'] },
  read_job: {
    from: 'reporter',
    open: 'signed_in',
    openUnless: ['private_jobs'],
    feature: 'builds',
    or: ['guest_of_public_jobs'],
  },
  /** To ask for a commit: the refusal names the branch, so `push_code` and its protection are looked at with that. */
  request_commit: { from: 'guest', open: 'signed_in' },
  push_code: { from: 'developer', feature: 'repository', unless: ['archived', 'importing'] },
  /** To push to a branch of which a merge request says so; that the caller may merge it is asked of its target. */
  collaborate: { from: 'reporter', open: 'signed_in', feature: 'repository', unless: ['archived', 'importing'] },
  /** To an empty repository, where the setting keeps that for maintainers. */
  push_first_commit: { from: 'maintainer', feature: 'repository', unless: ['archived', 'importing'] },
  /** What is told of releases; of their tags, only to those who read the code. */
  read_release: { from: 'guest', open: 'anyone', feature: 'repository' },
  /** Releases, too: they are what is told of a tag. */
  admin_tag: { from: 'developer', feature: 'repository', unless: ['archived', 'importing'] },
  /** Needs a token, as the API's document says, where the code itself does not. */
  read_merge_request: { from: 'reporter', open: 'signed_in', feature: 'merge_requests' },
  /** To ask that something be merged into the project. */
  create_merge_request_in: { from: 'guest', open: 'signed_in', feature: 'merge_requests', unless: ['archived'] },
  /** To ask that its code be merged somewhere. */
  create_merge_request_from: { from: 'developer', feature: 'repository', unless: ['archived'] },
  read_label: { from: 'guest', open: 'anyone' },
  admin_label: { from: 'reporter', unless: ['archived'] },
  subscribe_to_label: { from: 'guest', open: 'signed_in' },
  read_milestone: { from: 'guest', open: 'anyone' },
  admin_milestone: { from: 'developer', unless: ['archived'] },
  /** To take away what somebody else locked. */
  force_unlock: { from: 'maintainer', feature: 'repository', unless: ['archived'] },
  delete_protected_branch: { from: 'maintainer', feature: 'repository', unless: ['archived', 'importing'] },
  admin_protected_ref: { from: 'maintainer' },
  admin_member: { from: 'maintainer' },
  /** Whether the project takes requests at all is a setting of its own. */
  request_access: { from: 'guest', open: 'signed_in', unless: ['archived'] },
  set_notifications: { from: 'guest', open: 'signed_in' },
  admin_custom_attribute: { from: 'administrator' },
  read_badge: { from: 'guest', open: 'anyone' },
  admin_badge: { from: 'maintainer' },
  read_deploy_token: { from: 'maintainer' },
  admin_deploy_token: { from: 'maintainer' },
  admin_access_token: { from: 'maintainer' },
  /** A token of the project puts another in its own place; its bot is a member. */
  rotate_own_token: { from: 'guest' },
  admin_variable: { from: 'maintainer', feature: 'builds' },
  share_project: { from: 'maintainer' },
  admin_deploy_key: { from: 'maintainer' },
  read_audit_event: { from: 'maintainer' },
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
