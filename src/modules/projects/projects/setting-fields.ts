import { Type } from 'typebox'
import { described, nullable } from '../../../api/schema.ts'
import type { ProjectRecordRow } from './record-queries.ts'
import { type ProjectSettings, squashOptions } from './settings.ts'

export const nullableFlag = nullable(Type.Boolean())
export const nullableText = nullable(Type.String())

/** How CI jobs run. */
export const ciFields = {
  runners_token: Type.Optional(Type.String({ description: 'Token to register runners; only for maintainers' })),
  ci_default_git_depth: nullable(Type.Integer(), {
    description: 'Depth of clones in CI jobs; null for the whole history',
  }),
  ci_config_path: described(nullableText, 'Path of the pipeline configuration; null for the default'),
  build_git_strategy: Type.Optional(
    Type.String({ enum: ['fetch', 'clone'], description: 'How CI jobs get the code; only for maintainers' }),
  ),
  build_timeout: Type.Integer({ description: 'Timeout of CI jobs in seconds' }),
  build_coverage_regex: described(
    nullableText,
    'Regular expression that finds the coverage in job logs; null for none',
  ),
  auto_cancel_pending_pipelines: Type.String({
    enum: ['enabled', 'disabled'],
    description: 'Whether new pipelines cancel pending ones',
  }),
  ci_forward_deployment_enabled: Type.Boolean({
    description: 'True if CI skips deployment jobs that are older than the latest one',
  }),
  public_jobs: Type.Boolean({ description: 'True if jobs are visible to everyone who can see the project' }),
}

export const ciSettingsOf = (row: ProjectRecordRow, settings: ProjectSettings, administers: boolean) => ({
  ...(administers && { runners_token: row.runners_token, build_git_strategy: settings.build_git_strategy }),
  ci_default_git_depth: settings.ci_default_git_depth,
  ci_config_path: settings.ci_config_path,
  build_timeout: settings.build_timeout,
  build_coverage_regex: settings.build_coverage_regex,
  auto_cancel_pending_pipelines: settings.auto_cancel_pending_pipelines,
  ci_forward_deployment_enabled: settings.ci_forward_deployment_enabled,
  public_jobs: settings.public_builds,
})

/** How merge requests are merged, and what follows from a merge. */
export const mergingFields = {
  only_allow_merge_if_pipeline_succeeds: Type.Boolean({
    description: 'True if a merge requires a successful pipeline',
  }),
  only_allow_merge_if_all_discussions_are_resolved: described(
    nullableFlag,
    'True if a merge requires resolved discussions; null if it was cleared',
  ),
  remove_source_branch_after_merge: described(
    nullableFlag,
    'True if source branches are deleted after merge by default; null if it was cleared',
  ),
  printing_merge_request_link_enabled: Type.Boolean({
    description: 'True if a push answers with a link to create a merge request',
  }),
  request_access_enabled: Type.Boolean({ description: 'True if users may request access' }),
  autoclose_referenced_issues: described(
    nullableFlag,
    'True if commits on the default branch close issues; null if it was cleared',
  ),
  merge_method: Type.String({
    description: 'Merge method: merge commit, merge commit after a rebase, or fast-forward only',
    enum: ['merge', 'rebase_merge', 'ff'],
  }),
  squash_option: Type.String({
    description: 'Whether merges squash: never, always, or as requested, with a default for new merge requests',
    enum: [...squashOptions],
  }),
  suggestion_commit_message: described(nullableText, 'Commit message of applied suggestions; null for the default'),
  merge_commit_template: described(nullableText, 'Template of the messages of merge commits; null for the default'),
  squash_commit_template: described(nullableText, 'Template of the messages of squash commits; null for the default'),
}

export const mergingSettingsOf = (settings: ProjectSettings) => ({
  only_allow_merge_if_pipeline_succeeds: settings.only_allow_merge_if_pipeline_succeeds,
  only_allow_merge_if_all_discussions_are_resolved: settings.only_allow_merge_if_all_discussions_are_resolved,
  remove_source_branch_after_merge: settings.remove_source_branch_after_merge,
  printing_merge_request_link_enabled: settings.printing_merge_request_link_enabled,
  request_access_enabled: settings.request_access_enabled,
  autoclose_referenced_issues: settings.autoclose_referenced_issues,
  merge_method: settings.merge_method,
  squash_option: settings.squash_option,
  suggestion_commit_message: settings.suggestion_commit_message,
  merge_commit_template: settings.merge_commit_template,
  squash_commit_template: settings.squash_commit_template,
})

/** What only installations with a higher plan show. */
export const planFields = {
  approvals_before_merge: Type.Optional(
    Type.Integer({ description: 'Number of approvals that a merge requires', tier: 'starter' }),
  ),
  mirror: Type.Optional(
    Type.Boolean({ description: 'True if the project is a pull mirror of a remote repository', tier: 'starter' }),
  ),
  mirror_user_id: Type.Optional(
    nullable(Type.Integer(), {
      tier: 'starter',
      description:
        'ID of the user whose rights updates of the mirror have; null if the account was deleted or the project is no mirror',
    }),
  ),
  mirror_trigger_builds: Type.Optional(
    Type.Boolean({ tier: 'starter', description: 'False if updates of the mirror ask CI to skip them' }),
  ),
  only_mirror_protected_branches: Type.Optional(
    Type.Boolean({ tier: 'starter', description: 'True if updates of the mirror leave other branches' }),
  ),
  mirror_overwrites_diverged_branches: Type.Optional(
    Type.Boolean({
      tier: 'starter',
      description: 'True if updates of the mirror overwrite branches that diverged from the source',
    }),
  ),
  external_authorization_classification_label: Type.Optional(
    nullable(Type.String(), {
      description: 'Label for the external authorization service; null if there is none',
      tier: 'premium',
    }),
  ),
  compliance_frameworks: Type.Optional(
    Type.Array(Type.String(), { tier: 'premium', description: 'Always empty; not supported' }),
  ),
}

export const planSettingsOf = (row: ProjectRecordRow, settings: ProjectSettings) => ({
  approvals_before_merge: settings.approvals_before_merge,
  mirror: row.mirror,
  mirror_user_id: row.mirror ? row.mirror_user_id : null,
  mirror_trigger_builds: settings.mirror_trigger_builds,
  only_mirror_protected_branches: settings.only_mirror_protected_branches,
  mirror_overwrites_diverged_branches: settings.mirror_overwrites_diverged_branches,
  external_authorization_classification_label: settings.external_authorization_classification_label,
  compliance_frameworks: [],
})
