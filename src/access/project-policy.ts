import type { Policy } from './policy.ts'

/**
 * Abilities on a project. Facts: modules/projects/projects/subject.ts. `importing`: the repository is still being created, and records that an
 * import brings have their own numbers.
 */
export const projectPolicy = {
  read_project: { from: 'guest', open: 'anyone' },
  read_code: { from: 'reporter', open: 'anyone', feature: 'repository' },
  /** Users who can read the code may fork it if forks are enabled. */
  fork_project: { from: 'reporter', open: 'signed_in', feature: 'forking', unless: ['importing'] },
  /** Remove or set the fork relation to the source project. */
  link_fork: { from: 'owner' },
  /** Users who can see the project may star it. */
  star_project: { from: 'guest', open: 'signed_in' },
  upload_file: { from: 'guest', open: 'signed_in', unless: ['archived', 'importing'] },
  admin_upload: { from: 'maintainer' },
  remove_upload: { from: 'maintainer', unless: ['archived', 'importing'] },
  /** Requires authentication, unlike other reads, because a search is expensive. */
  search_project: { from: 'guest', open: 'signed_in' },
  read_statistics: { from: 'reporter' },
  read_member: { from: 'guest', open: 'signed_in' },
  read_commit_status: { from: 'reporter', open: 'signed_in', feature: 'builds' },
  create_commit_status: { from: 'developer', feature: 'builds', unless: ['archived', 'importing'] },
  /** Guests of a private project, and non-members for jobs, need public jobs. */
  read_pipeline: { from: 'reporter', open: 'anyone', feature: 'builds', or: ['guest_of_public_jobs'] },
  read_job: {
    from: 'reporter',
    open: 'signed_in',
    openUnless: ['private_jobs'],
    feature: 'builds',
    or: ['guest_of_public_jobs'],
  },
  read_environment: { from: 'reporter', open: 'signed_in', feature: 'builds' },
  update_environment: { from: 'developer', feature: 'builds', unless: ['archived', 'importing'] },
  read_deployment: { from: 'reporter', open: 'signed_in', feature: 'builds' },
  update_deployment: { from: 'developer', feature: 'builds', unless: ['archived', 'importing'] },
  remove_deployment: { from: 'maintainer', feature: 'builds', unless: ['archived', 'importing'] },
  /** Request a commit through the API; `push_code` and the protection are checked per branch, so that the error names it. */
  request_commit: { from: 'guest', open: 'signed_in' },
  push_code: { from: 'developer', feature: 'repository', unless: ['archived', 'importing'] },
  /** Push to the source branch of a merge request that allows collaboration; permission to merge is checked on the target project. */
  collaborate: { from: 'reporter', open: 'signed_in', feature: 'repository', unless: ['archived', 'importing'] },
  /** Push to an empty repository if the setting reserves that for maintainers. */
  push_first_commit: { from: 'maintainer', feature: 'repository', unless: ['archived', 'importing'] },
  /** Read releases; their tags require `read_code`. */
  read_release: { from: 'guest', open: 'anyone', feature: 'repository' },
  /** Applies to releases as well, because they describe tags. */
  admin_tag: { from: 'developer', feature: 'repository', unless: ['archived', 'importing'] },
  /** Requires authentication, as the specification says, even in public projects. Confidential issues require more: `issuePolicy`. */
  read_issue: { from: 'guest', open: 'signed_in', feature: 'issues' },
  /** Read confidential issues of other authors; authors and assignees read their own: `issuePolicy`. */
  read_confidential_issue: { from: 'reporter', feature: 'issues' },
  create_issue: { from: 'guest', open: 'signed_in', feature: 'issues', unless: ['archived', 'importing'] },
  /** Set assignees, labels, milestone and the like of new issues. */
  admin_issue: { from: 'reporter', feature: 'issues', unless: ['archived', 'importing'] },
  /** Set number and creation time of new issues. */
  date_issue: { from: 'owner', feature: 'issues', unless: ['archived', 'importing'] },
  /** Read snippets; the visibility of each requires more: `snippetPolicy`. */
  read_snippet: { from: 'guest', open: 'anyone', feature: 'snippets' },
  create_snippet: { from: 'reporter', feature: 'snippets', unless: ['archived', 'importing'] },
  read_board: { from: 'guest', open: 'signed_in', feature: 'issues' },
  /** Create, change and delete boards and their lists. */
  admin_board: { from: 'reporter', feature: 'issues', unless: ['archived', 'importing'] },
  /** Requires authentication, as the specification says, even where the code is public. */
  read_merge_request: { from: 'reporter', open: 'signed_in', feature: 'merge_requests' },
  /** Create merge requests with this project as the target. */
  create_merge_request_in: {
    from: 'guest',
    open: 'signed_in',
    feature: 'merge_requests',
    unless: ['archived', 'importing'],
  },
  /** Create merge requests with this project as the source. */
  create_merge_request_from: { from: 'developer', feature: 'repository', unless: ['archived', 'importing'] },
  read_label: { from: 'guest', open: 'anyone' },
  admin_label: { from: 'reporter', unless: ['archived', 'importing'] },
  subscribe_to_label: { from: 'guest', open: 'signed_in' },
  read_milestone: { from: 'guest', open: 'anyone' },
  read_container_image: { from: 'reporter', open: 'anyone', feature: 'container_registry' },
  /** Deploy tokens with the scope for it push to their own projects, although they have the level of reporters. */
  create_container_image: {
    from: 'developer',
    feature: 'container_registry',
    or: ['deploy_token'],
    unless: ['archived', 'importing'],
  },
  /** Delete and restore a tag. */
  destroy_container_image: { from: 'developer', feature: 'container_registry', unless: ['archived', 'importing'] },
  /** Delete and restore repositories, many tags at once, and what has a digest. */
  admin_container_image: { from: 'maintainer', feature: 'container_registry', unless: ['archived', 'importing'] },
  admin_milestone: { from: 'developer', unless: ['archived', 'importing'] },
  /** Remove LFS locks of other users. */
  force_unlock: { from: 'maintainer', feature: 'repository', unless: ['archived', 'importing'] },
  delete_protected_branch: { from: 'maintainer', feature: 'repository', unless: ['archived', 'importing'] },
  admin_protected_ref: { from: 'maintainer' },
  /** Read and change the push rule. */
  admin_push_rule: { from: 'maintainer' },
  /** Read everything in an archive, and start and download it; also of archived projects. */
  export_project: { from: 'maintainer' },
  admin_member: { from: 'maintainer' },
  /** A setting of the project enables access requests. */
  request_access: { from: 'guest', open: 'signed_in', unless: ['archived'] },
  set_notifications: { from: 'guest', open: 'signed_in' },
  admin_custom_attribute: { from: 'administrator' },
  /** Read and clone the wiki. */
  read_wiki: { from: 'guest', open: 'anyone', feature: 'wiki' },
  /** Create and change pages, and push to the wiki. */
  create_wiki: { from: 'developer', feature: 'wiki', unless: ['archived', 'importing'] },
  /** Delete pages. */
  admin_wiki: { from: 'maintainer', feature: 'wiki', unless: ['archived', 'importing'] },
  read_badge: { from: 'guest', open: 'anyone' },
  admin_badge: { from: 'maintainer', unless: ['importing'] },
  read_deploy_token: { from: 'maintainer' },
  admin_deploy_token: { from: 'maintainer' },
  admin_access_token: { from: 'maintainer' },
  /** A project token rotates itself; its bot is a member. */
  rotate_own_token: { from: 'guest' },
  admin_variable: { from: 'maintainer', feature: 'builds' },
  share_project: { from: 'maintainer' },
  admin_deploy_key: { from: 'maintainer' },
  /** Read where the repository is stored, and copy it as it is, with hidden refs. */
  read_storage: { from: 'administrator' },
  read_audit_event: { from: 'maintainer' },
  keep_house: { from: 'maintainer' },
  /** Read the state of mirrors, with URLs without credentials. */
  read_mirror: { from: 'maintainer' },
  /** Set up and update mirrors. A push mirror stops when the user who set it up loses this ability. */
  admin_mirror: { from: 'maintainer', feature: 'repository', unless: ['archived'] },
  /** Read and change hooks, and read what was sent to them. */
  admin_hook: { from: 'maintainer' },
  admin_project: { from: 'maintainer' },
  rename_project: { from: 'owner' },
  change_visibility: { from: 'owner' },
  transfer_project: { from: 'owner' },
  archive_project: { from: 'owner' },
  remove_project: { from: 'owner' },
  restore_project: { from: 'owner' },
} as const satisfies Policy<string>

export type ProjectAbility = keyof typeof projectPolicy
