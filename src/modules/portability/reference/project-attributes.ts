import { type Nested, oneIn, pick } from './values.ts'

/** Relations of one record each with settings of the project. */
export const settingRelations = [
  'project_feature',
  'auto_devops',
  'container_expiration_policy',
  'ci_cd_settings',
] as const

/** Attributes of the project in the form of ours. */
export function attributesOf(project: Nested): Nested {
  const method = project['merge_requests_ff_only_enabled']
    ? 'ff'
    : project['merge_requests_rebase_enabled']
      ? 'rebase_merge'
      : 'merge'
  const settings = pick(
    project,
    'only_allow_merge_if_pipeline_succeeds',
    'only_allow_merge_if_all_discussions_are_resolved',
    'resolve_outdated_diff_discussions',
    'request_access_enabled',
    'shared_runners_enabled',
    'public_builds',
    'build_timeout',
    'build_coverage_regex',
    'ci_config_path',
    'printing_merge_request_link_enabled',
    'suggestion_commit_message',
    'autoclose_referenced_issues',
    'remove_source_branch_after_merge',
    'approvals_before_merge',
    'external_authorization_classification_label',
    'auto_cancel_pending_pipelines',
    'service_desk_enabled',
  )
  const { enabled, deploy_strategy } = oneIn(project, 'auto_devops') ?? {}
  const policy = oneIn(project, 'container_expiration_policy')
  const { default_git_depth, forward_deployment_enabled } = oneIn(project, 'ci_cd_settings') ?? {}
  const others = {
    build_git_strategy: project['build_allow_git_fetch'] === false ? 'clone' : null,
    auto_devops_enabled: enabled ?? null,
    auto_devops_deploy_strategy: deploy_strategy ?? null,
    ci_default_git_depth: default_git_depth,
    ci_forward_deployment_enabled: forward_deployment_enabled,
    container_expiration_policy:
      policy && pick(policy, 'enabled', 'cadence', 'keep_n', 'older_than', 'name_regex', 'name_regex_keep'),
  }
  return {
    ...pick(project, 'description', 'visibility_level', 'archived'),
    settings: {
      ...Object.fromEntries(Object.entries({ ...settings, ...others }).filter(([, value]) => value != null)),
      merge_method: method,
    },
    project_feature: {
      ...(project['container_registry_enabled'] === false && { container_registry_access_level: 0 }),
      ...oneIn(project, 'project_feature'),
    },
  }
}
