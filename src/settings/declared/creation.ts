import { type About, choice, choices, count, countOrNone, flag, text } from './schema.ts'

const levels = ['private', 'internal', 'public'] as const

const visibility = (description: string, about: About = {}) => choice(levels, 'private', description, about)

/** Defaults of new groups and projects, and their deletion. */
export const creation = {
  default_project_visibility: visibility('Visibility of new projects'),
  default_group_visibility: visibility('Visibility of new groups'),
  default_snippet_visibility: visibility('Visibility of new personal snippets'),
  restricted_visibility_levels: choices(
    levels,
    'Visibility levels reserved for administrators; with `public`, user profiles are hidden from anonymous callers',
  ),
  default_projects_limit: count(100_000, 'Maximum number of personal projects of a new user'),
  default_project_creation: choice(
    [0, 1, 2] as number[],
    2,
    'Who may create projects in new groups: 0 no one, 1 maintainers, 2 developers and maintainers',
  ),
  default_branch_protection: choice(
    [0, 1, 2, 3] as number[],
    2,
    'Protection of default branches of new projects: 0 none, 1 developers may push, 2 only maintainers may push and merge, 3 maintainers may push and developers may merge. With 2 and 3 only maintainers may push to empty repositories',
  ),
  default_project_deletion_protection: flag(false, 'Allow only administrators to delete projects', { tier: 'premium' }),
  deletion_adjourned_period: count(7, 'Days before deleted projects and groups are removed; 0 removes them at once', {
    maximum: 90,
    tier: 'premium',
  }),
  limit_projects_in_groups_api: flag(true, 'Limit the projects in a group record to 100 own and 100 shared ones'),
  protected_ci_variables: flag(false, 'Protect new CI/CD variables by default'),
  shared_runners_enabled: flag(true, 'Enable shared runners for new projects', { sentWith: ['shared_runners_text'] }),
  auto_devops_enabled: flag(true, 'Enable Auto DevOps in new projects: pipelines without configuration'),
  default_ci_config_path: text('Path of the CI configuration file in new projects'),
  custom_project_templates_group_id: countOrNone('Group whose projects are custom project templates', {
    tier: 'premium',
  }),
  file_template_project_id: countOrNone('Project whose files are file templates', {
    tier: 'premium',
  }),
}
