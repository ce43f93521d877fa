import type { Static, TObject } from 'typebox'
import { Flag, Nullable, OneOf, Optional, Text, Whole } from '../../../api/params/types.ts'
import type { FieldViolations } from '../../../kernel/failure.ts'
import { tooLong } from '../../../kernel/violations.ts'
import { type CleanupPolicy, cleanupPolicyAmong, cleanupPolicyViolations } from './cleanup-policy.ts'

const flag = (description: string) => Optional(Flag({ description }))
const text = (description: string) => Optional(Nullable(Text({ description })))

export const squashOptions = ['never', 'always', 'default_on', 'default_off'] as const

/**
 * Settings of a project that no query filters by, as parameters of create and edit. Stored as given in
 * `projects.settings`; absent ones have the defaults below.
 */
export const settingParams = {
  lfs_enabled: flag('Git LFS is enabled'),
  packages_enabled: flag('The project has packages'),
  service_desk_enabled: Optional(
    Nullable(Flag({ description: 'Service desk: create issues by email; null restores the default' })),
  ),
  resolve_outdated_diff_discussions: Optional(
    Nullable(Flag({ description: 'Resolve discussions when their lines change' })),
  ),
  shared_runners_enabled: flag('Shared runners serve the project'),
  public_builds: flag('Jobs are visible to everyone who can see the project'),
  request_access_enabled: flag('Users may request access'),
  only_allow_merge_if_pipeline_succeeds: flag('Require a successful pipeline to merge'),
  only_allow_merge_if_all_discussions_are_resolved: Optional(
    Nullable(Flag({ description: 'Require resolved discussions to merge' })),
  ),
  printing_merge_request_link_enabled: flag('Pushes answer with a link to make a merge request'),
  remove_source_branch_after_merge: Optional(
    Nullable(Flag({ description: 'Delete source branches after merge by default' })),
  ),
  merge_method: Optional(
    OneOf(['merge', 'rebase_merge', 'ff'], {
      description: 'Merge commit, merge commit after a rebase, or fast-forward only',
    }),
  ),
  squash_option: Optional(
    OneOf(squashOptions, {
      description:
        'Whether merges squash: never, always, or as requested, with `default_on` or `default_off` for new merge requests',
    }),
  ),
  autoclose_referenced_issues: Optional(
    Nullable(Flag({ description: 'Close issues that commits on the default branch reference' })),
  ),
  suggestion_commit_message: text('Commit message of applied suggestions'),
  merge_commit_template: text('Template of the messages of merge commits; null restores the default'),
  squash_commit_template: text('Template of the messages of squash commits; null restores the default'),
  build_git_strategy: Optional(OneOf(['fetch', 'clone'], { description: 'How CI jobs get the code' })),
  build_timeout: Optional(Whole({ minimum: 600, maximum: 2_591_999, description: 'Timeout of CI jobs in seconds' })),
  auto_cancel_pending_pipelines: Optional(
    OneOf(['enabled', 'disabled'], { description: 'New pipelines cancel pending ones' }),
  ),
  ci_forward_deployment_enabled: flag('CI skips deployment jobs that are older than the latest one'),
  build_coverage_regex: text('Regular expression that finds the coverage in job logs'),
  ci_config_path: text('Path of the pipeline configuration'),
  ci_default_git_depth: Optional(
    Nullable(Whole({ minimum: 0, maximum: 1000, description: 'Depth of clones in CI jobs' })),
  ),
  auto_devops_enabled: Optional(Nullable(Flag({ description: 'Auto DevOps: pipelines without configuration' }))),
  auto_devops_deploy_strategy: Optional(
    OneOf(['continuous', 'manual', 'timed_incremental'], { description: 'Deployment strategy of such pipelines' }),
  ),
  approvals_before_merge: Optional(Whole({ minimum: 0, tier: 'starter', description: 'Approvals a merge needs' })),
  mirror_trigger_builds: Optional(
    Flag({ tier: 'starter', description: 'False: updates of the pull mirror have the push option `ci.skip`' }),
  ),
  only_mirror_protected_branches: Optional(
    Flag({ tier: 'starter', description: 'The pull mirror updates protected branches and tags only' }),
  ),
  mirror_overwrites_diverged_branches: Optional(
    Flag({
      tier: 'starter',
      description: 'The pull mirror overwrites branches and tags that diverged from the source',
    }),
  ),
  external_authorization_classification_label: Optional(
    Nullable(Text({ tier: 'premium', description: 'Classification label for the external authorization service' })),
  ),
} as const

type Stored = Static<TObject<typeof settingParams>>
export type ProjectSettings = { [K in keyof Stored]-?: Exclude<Stored[K], undefined> }

/** What `projects.settings` contains. */
export type StoredSettings = Partial<ProjectSettings> & {
  readonly container_expiration_policy?: Partial<CleanupPolicy>
}

/** Default settings. Source: supplement to the API documents, "Project create". */
export const settingDefaults: ProjectSettings = {
  lfs_enabled: true,
  packages_enabled: true,
  service_desk_enabled: true,
  resolve_outdated_diff_discussions: false,
  shared_runners_enabled: true,
  public_builds: true,
  request_access_enabled: false,
  only_allow_merge_if_pipeline_succeeds: false,
  only_allow_merge_if_all_discussions_are_resolved: false,
  printing_merge_request_link_enabled: true,
  remove_source_branch_after_merge: true,
  merge_method: 'merge',
  squash_option: 'default_off',
  autoclose_referenced_issues: true,
  suggestion_commit_message: null,
  merge_commit_template: null,
  squash_commit_template: null,
  build_git_strategy: 'fetch',
  build_timeout: 3600,
  auto_cancel_pending_pipelines: 'enabled',
  ci_forward_deployment_enabled: true,
  build_coverage_regex: null,
  ci_config_path: null,
  ci_default_git_depth: 50,
  auto_devops_enabled: false,
  auto_devops_deploy_strategy: 'continuous',
  approvals_before_merge: 0,
  mirror_trigger_builds: false,
  only_mirror_protected_branches: false,
  mirror_overwrites_diverged_branches: false,
  external_authorization_classification_label: null,
}

/** Settings without a value of the project's own while none is stored: that of the group applies, or that of the plan. */
export const inheritedWhileAbsent = { lfs_enabled: null, service_desk_enabled: null }

/** Maximum characters of texts. */
const maximumLengths = {
  suggestion_commit_message: 255,
  merge_commit_template: 500,
  squash_commit_template: 500,
  build_coverage_regex: 255,
  ci_config_path: 255,
  external_authorization_classification_label: 255,
} as const

/** Errors of settings beyond their type. */
export function settingViolations(params: Readonly<Record<string, unknown>>): FieldViolations {
  const violations: Record<string, string[]> = {}
  for (const [name, maximum] of Object.entries(maximumLengths)) {
    const value = params[name]
    if (typeof value === 'string' && [...value].length > maximum) violations[name] = [tooLong(maximum)]
  }
  const path = params['ci_config_path']
  if (typeof path === 'string' && (path.startsWith('/') || path.includes('..')))
    violations['ci_config_path'] = ['cannot include leading slash or directory traversal.']
  return { ...violations, ...cleanupPolicyViolations(params) }
}

const names = Object.keys(settingParams) as (keyof ProjectSettings)[]

/** Settings under the names that records have, where parameters have older ones. */
export const settingAliases = {
  public_jobs: flag('Same as `public_builds`, which wins'),
} as const

/** The settings among the given parameters. */
export const settingsAmong = (params: Readonly<Record<string, unknown>>): StoredSettings => ({
  ...(params['public_jobs'] !== undefined && { public_builds: params['public_jobs'] as boolean }),
  ...Object.fromEntries(names.filter((name) => params[name] !== undefined).map((name) => [name, params[name]])),
  ...cleanupPolicyAmong(params),
})
