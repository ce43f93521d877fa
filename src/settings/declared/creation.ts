import { choice, count, flag, words } from '../schema.ts'

const visibility = (description: string) => choice(['private', 'internal', 'public'], 'private', description)

/** What groups, projects and what lies in them are when they are made. */
export const creation = {
  default_project_visibility: visibility('Visibility of new projects'),
  default_group_visibility: visibility('Visibility of new groups'),
  restricted_visibility_levels: words(
    'Visibilities that only administrators may choose; with `public`, accounts are hidden from anonymous callers',
  ),
  default_projects_limit: count(100_000, 'Personal projects a new user may have'),
  default_project_creation: choice(
    [0, 1, 2] as number[],
    2,
    'Who creates projects in new groups: 0 no one, 1 maintainers, 2 developers and maintainers',
  ),
  default_branch_protection: choice(
    [0, 1, 2, 3] as number[],
    2,
    'Protection of first branches: 0 none, 1 developers push, 2 maintainers push and merge, 3 maintainers push and developers merge. With 2 and 3 only maintainers push to empty repositories',
  ),
  deletion_adjourned_period: count(7, 'Days that deleted projects of groups are kept (premium and higher)'),
  limit_projects_in_groups_api: flag(true, 'A group shows at most 100 of its projects and 100 shared with it'),
  protected_ci_variables: flag(false, 'New variables of pipelines are protected'),
}
