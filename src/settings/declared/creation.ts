import { type About, choice, choices, count, countOrNone, flag, text } from '../schema.ts'

const levels = ['private', 'internal', 'public'] as const

const visibility = (description: string, about: About = {}) => choice(levels, 'private', description, about)

/** What groups, projects and what lies in them are when they are made, and when they go. */
export const creation = {
  default_project_visibility: visibility('Visibility of new projects'),
  default_group_visibility: visibility('Visibility of new groups'),
  default_snippet_visibility: visibility('Visibility of new snippets', {
    without: 'snippets',
    guards: 'missing',
  }),
  restricted_visibility_levels: choices(
    levels,
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
  default_project_deletion_protection: flag(false, 'Only administrators delete projects', { tier: 'premium' }),
  deletion_adjourned_period: count(7, 'Days that deleted projects of groups are kept; 0 deletes them at once', {
    maximum: 90,
    tier: 'premium',
  }),
  limit_projects_in_groups_api: flag(true, 'A group shows at most 100 of its projects and 100 shared with it'),
  protected_ci_variables: flag(false, 'New variables of pipelines are protected'),
  shared_runners_enabled: flag(true, 'Shared runners serve new projects', { sentWith: ['shared_runners_text'] }),
  auto_devops_enabled: flag(
    true,
    'New projects say that a pipeline is made for them where they have no configuration for one',
  ),
  default_ci_config_path: text('Path of the pipeline configuration of new projects'),
  custom_project_templates_group_id: countOrNone('Group whose projects are templates of new ones', {
    tier: 'premium',
  }),
  file_template_project_id: countOrNone('Project whose files are templates of new ones', {
    tier: 'premium',
  }),
}
