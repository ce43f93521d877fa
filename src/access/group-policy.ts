import type { Policy } from './policy.ts'

/**
 * Abilities on a group. Facts: modules/groups/groups/subject.ts. `importing`: an archive is being imported, whose records bring their own
 * numbers and paths.
 */
export const groupPolicy = {
  /** Users who can see a project of the group can see the group. */
  read_group: { from: 'guest', open: 'anyone', or: ['reads_project_inside'] },
  read_member: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  search_group: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  create_project: {
    from: 'maintainer',
    or: ['developers_create_projects'],
    unless: ['nobody_creates_projects', 'importing'],
  },
  create_subgroup: { from: 'owner', or: ['maintainers_create_subgroups'], unless: ['importing'] },
  admin_group: { from: 'owner' },
  admin_member: { from: 'owner' },
  request_access: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  set_notifications: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  admin_custom_attribute: { from: 'administrator' },
  /** Lists of records in projects of the group; the queries filter them by these projects. */
  list_merge_requests: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  list_issues: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  /** The list filters confidential ones. */
  list_epics: { from: 'guest', open: 'signed_in' },
  create_epic: { from: 'reporter', unless: ['importing'] },
  read_label: { from: 'guest', open: 'anyone', or: ['reads_project_inside'] },
  admin_label: { from: 'reporter', unless: ['importing'] },
  subscribe_to_label: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  read_milestone: { from: 'guest', open: 'anyone', or: ['reads_project_inside'] },
  admin_milestone: { from: 'developer', unless: ['importing'] },
  read_board: { from: 'guest', open: 'signed_in', or: ['reads_project_inside'] },
  /** Create, change and delete boards and their lists. */
  admin_board: { from: 'reporter', unless: ['importing'] },
  /** Wikis of groups are for members. */
  read_wiki: { from: 'guest' },
  create_wiki: { from: 'developer', unless: ['importing'] },
  admin_wiki: { from: 'maintainer', unless: ['importing'] },
  /** The list has the images of the projects whose images the caller may read. */
  list_container_images: { from: 'reporter' },
  read_badge: { from: 'guest', open: 'anyone', or: ['reads_project_inside'] },
  admin_badge: { from: 'owner', unless: ['importing'] },
  read_deploy_token: { from: 'maintainer' },
  admin_deploy_token: { from: 'owner' },
  admin_access_token: { from: 'owner' },
  /** A group token rotates itself; its bot is a member. */
  rotate_own_token: { from: 'guest' },
  admin_variable: { from: 'owner' },
  /** Read and change hooks, and read what was sent to them. */
  admin_hook: { from: 'owner' },
  /** Read and change the push rule that new projects copy. */
  admin_push_rule: { from: 'owner' },
  read_audit_event: { from: 'owner' },
  transfer_group: { from: 'owner' },
  export_group: { from: 'owner', unless: ['importing'] },
  /** Accept projects from any namespace. */
  receive_project: { from: 'administrator' },
  remove_group: { from: 'owner' },
} as const satisfies Policy<string>

export type GroupAbility = keyof typeof groupPolicy
