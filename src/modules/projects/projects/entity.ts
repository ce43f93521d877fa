import { Type } from 'typebox'
import { featureLevelName, visibilityName } from '../../../access/levels.ts'
import { allows, hasFeature } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { cachedRecords } from '../../../api/cached-records.ts'
import { type CacheableEntity, cacheableEntity, type RecordView } from '../../../api/record-view.ts'
import { accessLevel, dateOnly, described, nullable, timestamp } from '../../../api/schema.ts'
import { httpUrlToRepo, type Site, sshUrlToRepo } from '../../../api/site.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { namespacePicture, namespaceUrl, pictureUrl } from '../../namespaces/index.ts'
import { licenseOf } from './licenses.ts'
import {
  completeStamps,
  type ForkSource,
  listProjectRecords,
  type ProjectRecordRow,
  type ProjectStamp,
  type ProjectStatistics,
  type RecordOptions,
} from './record-queries.ts'
import { settingDefaults } from './settings.ts'
import { sharedWithGroups } from './shared-groups.ts'
import { projectFacts } from './subject.ts'

const basic = {
  id: Type.Integer({ description: 'ID of the project' }),
  description: nullable(Type.String(), { description: 'Description; null if there is none' }),
  default_branch: Type.Optional(
    nullable(
      Type.String({ description: 'Default branch, only for users who may read the code; null in an empty repository' }),
    ),
  ),
  ssh_url_to_repo: Type.String({ description: 'Clone URL for SSH' }),
  http_url_to_repo: Type.String({ description: 'Clone URL for HTTP' }),
  web_url: Type.String({ description: 'URL of the project page' }),
  readme_url: nullable(Type.String(), {
    description: 'URL of the README; null if there is none or the caller may not read the code',
  }),
  tag_list: Type.Array(Type.String(), { description: 'Same as `topics`' }),
  topics: Type.Array(Type.String(), { description: 'Topics of the project' }),
  name: Type.String({ description: 'Name of the project' }),
  name_with_namespace: Type.String({
    description: 'Names of all parent groups, or of the owner, and of the project, joined by ` / `',
  }),
  path: Type.String({ description: 'Last segment of the path' }),
  path_with_namespace: Type.String({ description: 'Path with all parent groups or the owner' }),
  created_at: timestamp('Time at which the project was created'),
  last_activity_at: timestamp('Time of the last push or import; at first that of the creation'),
  forks_count: Type.Integer({ description: 'Number of forks' }),
  avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
  star_count: Type.Integer({ description: 'Number of users who starred the project' }),
}

const blobUrl = (site: Site, fullPath: string, branch: string | null, path: string | null) =>
  branch === null || path === null ? null : `${site.url}/${fullPath}/-/blob/${branch}/${path}`

const basicOf = (row: ProjectRecordRow | ForkSource, { site }: RecordView, readsCode: boolean) => ({
  id: row.id,
  description: row.description,
  ...(readsCode && { default_branch: row.default_branch }),
  ssh_url_to_repo: sshUrlToRepo(site, row.full_path),
  http_url_to_repo: httpUrlToRepo(site, row.full_path),
  web_url: `${site.url}/${row.full_path}`,
  readme_url: readsCode ? blobUrl(site, row.full_path, row.default_branch, row.readme_path) : null,
  tag_list: row.topics,
  topics: row.topics,
  name: row.name,
  name_with_namespace: `${row.namespace_full_name} / ${row.name}`,
  path: row.path,
  path_with_namespace: row.full_path,
  created_at: row.created_at,
  last_activity_at: row.last_activity_at,
  forks_count: row.forks_count,
  avatar_url: pictureUrl(site, 'project', row.id, row.avatar),
  star_count: row.star_count,
})

/** Fields for `simple=true` and for anonymous callers. */
export const ProjectSimple = cacheableEntity({
  name: 'ProjectSimple',
  schema: Type.Object(basic),
  present: (row: ProjectRecordRow, view) => basicOf(row, view, readsCode(row, view)),
})

const namespace = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the namespace' }),
    name: Type.String({ description: 'Name of the group or user' }),
    path: Type.String({ description: 'Last segment of the path' }),
    kind: Type.String({ description: 'Kind of the namespace: of a user, or a group', enum: ['user', 'group'] }),
    full_path: Type.String({ description: 'Path with all parent groups' }),
    parent_id: nullable(Type.Integer(), { description: 'ID of the parent group; null for users and top-level groups' }),
    avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
    web_url: Type.String({ description: 'URL of the group or profile page' }),
  },
  { title: 'ProjectNamespace', description: 'Group or user that the project belongs to' },
)

const namespaceOf = (row: ProjectRecordRow, view: RecordView) => ({
  id: row.namespace_id,
  name: row.namespace_name,
  path: row.namespace_path,
  kind: row.namespace_kind,
  full_path: row.namespace_full_path,
  parent_id: row.namespace_parent_id,
  avatar_url: namespacePicture({ id: row.namespace_id, avatar: row.namespace_avatar, owner: row.owner }, view),
  web_url: namespaceUrl(view.site, row.namespace_kind, row.namespace_full_path),
})

/** One project as an anonymous caller sees it. */
export const ProjectPublic = cacheableEntity({
  name: 'ProjectPublic',
  schema: Type.Object({ ...basic, namespace }),
  present: (row: ProjectRecordRow, view) => ({
    ...basicOf(row, view, readsCode(row, view)),
    namespace: namespaceOf(row, view),
  }),
})

const readsCode = (row: ProjectRecordRow, { actor }: RecordView): boolean =>
  allows(projectPolicy.read_code, actor, projectFacts(row))

const access = nullable(
  Type.Object(
    {
      access_level: accessLevel('Access level of the caller'),
      notification_level: Type.Integer({
        enum: [0, 1, 2, 3, 4, 5],
        'x-enum-varnames': ['DISABLED', 'PARTICIPATING', 'WATCH', 'GLOBAL', 'MENTION', 'CUSTOM'],
        description: 'Notification level: 0 disabled, 1 participating, 2 watch, 3 global, 4 mention, 5 custom',
      }),
    },
    { title: 'ProjectAccess' },
  ),
)
const featureLevel = Type.String({ enum: ['disabled', 'private', 'enabled'] })
const statistics = Type.Object(
  {
    commit_count: Type.Integer({ description: 'Number of commits on the default branch' }),
    storage_size: Type.Integer({ description: 'Total in bytes' }),
    repository_size: Type.Integer({ description: 'Repository in bytes' }),
    wiki_size: Type.Integer({ description: 'Wiki in bytes' }),
    lfs_objects_size: Type.Integer({ description: 'Git LFS objects in bytes' }),
    job_artifacts_size: Type.Integer({ description: 'Job artifacts in bytes' }),
    packages_size: Type.Integer({ description: 'Packages in bytes' }),
  },
  { title: 'ProjectStatistics' },
)
const nullableFlag = nullable(Type.Boolean())
const nullableText = nullable(Type.String())

const statisticsOf = (row: ProjectStatistics) => ({
  commit_count: row.commit_count,
  storage_size: row.repository_size + row.wiki_size + row.lfs_objects_size + row.job_artifacts_size + row.packages_size,
  repository_size: row.repository_size,
  wiki_size: row.wiki_size,
  lfs_objects_size: row.lfs_objects_size,
  job_artifacts_size: row.job_artifacts_size,
  packages_size: row.packages_size,
})

/** The full record. */
export const Project = cacheableEntity({
  name: 'Project',
  schema: Type.Object({
    ...basic,
    namespace,
    owner: Type.Optional(
      Type.Object(
        { ...UserReferenceSchema.properties, created_at: timestamp('Time at which the account was created') },
        { description: 'Owner; only for projects in personal namespaces' },
      ),
    ),
    _links: Type.Object(
      {
        self: Type.String({ description: 'URL of the project' }),
        issues: Type.Optional(
          Type.String({ description: 'URL of the issues; absent if issues are not available to the caller' }),
        ),
        merge_requests: Type.Optional(
          Type.String({ description: 'URL of the merge requests; absent if they are not available to the caller' }),
        ),
        repo_branches: Type.String({ description: 'URL of the branches' }),
        labels: Type.String({ description: 'URL of the labels' }),
        events: Type.String({ description: 'URL of the events' }),
        members: Type.String({ description: 'URL of the members' }),
      },
      { title: 'ProjectLinks', description: 'URLs of the project and its lists in the API' },
    ),
    visibility: Type.Union([Type.Literal('private'), Type.Literal('internal'), Type.Literal('public')], {
      description: 'Who can see the project',
    }),
    archived: Type.Boolean({ description: 'True if the project is read-only' }),
    empty_repo: Type.Boolean({ description: 'True if nothing was pushed' }),
    creator_id: nullable(Type.Integer(), {
      description: 'ID of the user who created the project; null if they were deleted',
    }),
    issues_enabled: Type.Boolean({ description: 'True if issues are available to the caller' }),
    merge_requests_enabled: Type.Boolean({ description: 'True if merge requests are available to the caller' }),
    jobs_enabled: Type.Boolean({ description: 'True if CI/CD is available to the caller' }),
    wiki_enabled: Type.Boolean({ description: 'True if the wiki is available to the caller' }),
    snippets_enabled: Type.Boolean({ description: 'True if snippets are available to the caller' }),
    container_registry_enabled: Type.Boolean({ description: 'True if the container registry is enabled' }),
    issues_access_level: described(featureLevel, 'Who may use issues'),
    repository_access_level: described(featureLevel, 'Who may use the repository'),
    merge_requests_access_level: described(featureLevel, 'Who may use merge requests'),
    builds_access_level: described(featureLevel, 'Who may use CI/CD'),
    wiki_access_level: described(featureLevel, 'Who may use the wiki'),
    snippets_access_level: described(featureLevel, 'Who may use snippets'),
    forking_access_level: described(featureLevel, 'Who may fork the project'),
    pages_access_level: Type.String({
      description: 'Who may see the pages site; `public` for everyone',
      enum: ['disabled', 'private', 'enabled', 'public'],
    }),
    can_create_merge_request_in: Type.Boolean({ description: 'True if the caller may create merge requests' }),
    resolve_outdated_diff_discussions: described(
      nullableFlag,
      'True if discussions are resolved when their lines change; null if it was cleared',
    ),
    open_issues_count: Type.Optional(
      Type.Integer({ description: 'Always 0; absent if issues are not available to the caller' }),
    ),
    import_status: Type.String({
      description: 'State of the import or fork; `none` if the project was not imported',
      enum: ['none', 'scheduled', 'started', 'finished', 'failed'],
    }),
    import_error: Type.Optional(
      nullable(Type.String({ description: 'Error of the import, only for maintainers; null if there is none' })),
    ),
    permissions: Type.Object(
      {
        project_access: described(access, 'Membership in the project; null if the caller is not a member'),
        group_access: described(access, 'Membership in the group of the project; null if the caller is not a member'),
      },
      { title: 'ProjectPermissions', description: 'Memberships of the caller' },
    ),
    shared_runners_enabled: Type.Boolean({ description: 'True if shared runners serve the project' }),
    lfs_enabled: Type.Boolean({ description: 'True if Git LFS is enabled' }),
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
    public_jobs: Type.Boolean({ description: 'True if jobs are visible to everyone who can see the project' }),
    shared_with_groups: sharedWithGroups('project'),
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
    suggestion_commit_message: described(nullableText, 'Commit message of applied suggestions; null for the default'),
    auto_devops_enabled: described(nullableFlag, 'True if Auto DevOps is enabled; null to inherit'),
    auto_devops_deploy_strategy: Type.String({
      enum: ['continuous', 'manual', 'timed_incremental'],
      description: 'Deployment strategy of Auto DevOps',
    }),
    repository_storage: Type.Optional(
      Type.String({ description: 'Storage of the repository; only for administrators' }),
    ),
    approvals_before_merge: Type.Optional(
      Type.Integer({ description: 'Number of approvals that a merge requires', tier: 'starter' }),
    ),
    mirror: Type.Optional(
      Type.Boolean({ description: 'True if the project is a pull mirror of a remote repository', tier: 'starter' }),
    ),
    mirror_user_id: Type.Optional(
      nullable(Type.Integer(), {
        tier: 'starter',
        description: 'Only of mirrors: ID of the user whose rights updates have; null if the account was deleted',
      }),
    ),
    mirror_trigger_builds: Type.Optional(
      Type.Boolean({ tier: 'starter', description: 'Only of mirrors: false if updates ask CI to skip them' }),
    ),
    only_mirror_protected_branches: Type.Optional(
      Type.Boolean({ tier: 'starter', description: 'Only of mirrors: true if other branches are not updated' }),
    ),
    mirror_overwrites_diverged_branches: Type.Optional(
      Type.Boolean({
        tier: 'starter',
        description: 'Only of mirrors: true if branches that diverged from the source are overwritten',
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
    packages_enabled: Type.Boolean({ description: 'True if the package registry is enabled' }),
    service_desk_enabled: nullable(Type.Boolean(), { description: 'Null below the premium plan unless it was set' }),
    service_desk_address: described(nullableText, 'Always null; the service desk is not supported'),
    marked_for_deletion_at: Type.Optional(
      nullable(dateOnly(), { description: 'Same as `marked_for_deletion_on`', tier: 'premium' }),
    ),
    marked_for_deletion_on: Type.Optional(
      nullable(dateOnly(), { description: 'Day on which deletion was requested; null if it was not', tier: 'premium' }),
    ),
    forked_from_project: Type.Optional(described(ProjectSimple.schema, 'Source of the fork, if the caller can see it')),
    license_url: Type.Optional(nullable(Type.String({ description: 'Present with `license=true`' }))),
    license: Type.Optional(
      nullable(
        Type.Object(
          {
            key: Type.String({ description: 'Key of the license, such as `mit`' }),
            name: Type.String({ description: 'Name of the license' }),
            nickname: described(nullableText, 'Short name; null if there is none'),
            html_url: described(nullableText, 'URL of a page about the license; null if there is none'),
            source_url: described(nullableText, 'URL of the license text; null if there is none'),
          },
          { title: 'ProjectLicense' },
        ),
        { description: 'License of the code, present with `license=true`; null if none is recognized' },
      ),
    ),
    statistics: Type.Optional(nullable(statistics, { description: 'Present with `statistics=true`, for reporters' })),
    custom_attributes: Type.Optional(
      Type.Array(
        Type.Object(
          {
            key: Type.String({ description: 'Name of the attribute' }),
            value: Type.String({ description: 'Value of the attribute' }),
          },
          { title: 'CustomAttribute' },
        ),
        { description: 'Custom attributes; present with `with_custom_attributes=true`' },
      ),
    ),
  }),
  present(row: ProjectRecordRow & { withLicense?: boolean }, view) {
    const { site, actor, plan } = view
    const facts = projectFacts(row)
    const settings = { ...settingDefaults, ...row.settings }
    const administers = allows(projectPolicy.admin_project, actor, facts)
    const mayReadCode = allows(projectPolicy.read_code, actor, facts)
    const on = (feature: string) => hasFeature(feature, actor, facts)
    const issues = on('issues')
    const mergeRequests = on('merge_requests')
    const self = `${site.apiUrl}/projects/${row.id}`
    return {
      ...basicOf(row, view, mayReadCode),
      namespace: namespaceOf(row, view),
      ...(row.owner && { owner: { ...userReference(row.owner, view), created_at: row.owner.created_at } }),
      _links: {
        self,
        ...(issues && { issues: `${self}/issues` }),
        ...(mergeRequests && { merge_requests: `${self}/merge_requests` }),
        repo_branches: `${self}/repository/branches`,
        labels: `${self}/labels`,
        events: `${self}/events`,
        members: `${self}/members`,
      },
      visibility: visibilityName(row.visibility),
      archived: row.archived,
      empty_repo: !row.has_repository,
      creator_id: row.creator_id,
      issues_enabled: issues,
      merge_requests_enabled: mergeRequests,
      jobs_enabled: on('builds'),
      wiki_enabled: on('wiki'),
      snippets_enabled: on('snippets'),
      container_registry_enabled: settings.container_registry_enabled,
      issues_access_level: featureLevelName(row.issues_access_level),
      repository_access_level: featureLevelName(row.repository_access_level),
      merge_requests_access_level: featureLevelName(row.merge_requests_access_level),
      builds_access_level: featureLevelName(row.builds_access_level),
      wiki_access_level: featureLevelName(row.wiki_access_level),
      snippets_access_level: featureLevelName(row.snippets_access_level),
      forking_access_level: featureLevelName(row.forking_access_level),
      pages_access_level: featureLevelName(row.pages_access_level),
      can_create_merge_request_in: allows(projectPolicy.create_merge_request_in, actor, facts),
      resolve_outdated_diff_discussions: settings.resolve_outdated_diff_discussions,
      ...(issues && { open_issues_count: row.open_issues_count }),
      import_status: row.import_status,
      ...(administers && { import_error: row.import_error }),
      permissions: { project_access: row.project_member, group_access: row.group_member },
      shared_runners_enabled: settings.shared_runners_enabled,
      lfs_enabled: row.settings.lfs_enabled ?? row.namespace_lfs_enabled ?? settings.lfs_enabled,
      ...(administers && { runners_token: row.runners_token, build_git_strategy: settings.build_git_strategy }),
      ci_default_git_depth: settings.ci_default_git_depth,
      ci_config_path: settings.ci_config_path,
      build_timeout: settings.build_timeout,
      build_coverage_regex: settings.build_coverage_regex,
      auto_cancel_pending_pipelines: settings.auto_cancel_pending_pipelines,
      public_jobs: settings.public_builds,
      shared_with_groups: row.shared_with_groups,
      only_allow_merge_if_pipeline_succeeds: settings.only_allow_merge_if_pipeline_succeeds,
      only_allow_merge_if_all_discussions_are_resolved: settings.only_allow_merge_if_all_discussions_are_resolved,
      remove_source_branch_after_merge: settings.remove_source_branch_after_merge,
      printing_merge_request_link_enabled: settings.printing_merge_request_link_enabled,
      request_access_enabled: settings.request_access_enabled,
      autoclose_referenced_issues: settings.autoclose_referenced_issues,
      merge_method: settings.merge_method,
      suggestion_commit_message: settings.suggestion_commit_message,
      auto_devops_enabled: settings.auto_devops_enabled,
      auto_devops_deploy_strategy: settings.auto_devops_deploy_strategy,
      ...(actor?.admin && { repository_storage: row.repository_storage }),
      approvals_before_merge: settings.approvals_before_merge,
      mirror: row.mirror,
      ...(row.mirror && {
        mirror_user_id: row.mirror_user_id,
        mirror_trigger_builds: settings.mirror_trigger_builds,
        only_mirror_protected_branches: settings.only_mirror_protected_branches,
        mirror_overwrites_diverged_branches: settings.mirror_overwrites_diverged_branches,
      }),
      external_authorization_classification_label: settings.external_authorization_classification_label,
      compliance_frameworks: [],
      packages_enabled: settings.packages_enabled,
      service_desk_enabled: row.settings.service_desk_enabled ?? (planOffers(plan, 'premium') ? true : null),
      service_desk_address: null,
      marked_for_deletion_at: row.marked_for_deletion_on,
      marked_for_deletion_on: row.marked_for_deletion_on,
      ...(row.forked_from && { forked_from_project: basicOf(row.forked_from, view, row.forked_from.readable) }),
      ...(row.withLicense && {
        license_url: mayReadCode ? blobUrl(site, row.full_path, row.default_branch, row.license_path) : null,
        license: mayReadCode && row.license_key !== null ? licenseOf(row.license_key) : null,
      }),
      ...(row.statistics !== undefined &&
        allows(projectPolicy.read_statistics, actor, facts) && {
          statistics: row.statistics && statisticsOf(row.statistics),
        }),
      ...(row.custom_attributes && { custom_attributes: row.custom_attributes }),
    }
  },
})

/** The records of `entity` as cached texts. With `inheritedMembership` a group's level counts for all below it. */
const keptAs = (e: CacheableEntity<ProjectRecordRow>, options: RecordOptions = {}) => {
  const showsShares = 'shared_with_groups' in e.schema.properties
  return cachedRecords<ProjectStamp, ProjectRecordRow>({
    entity: e,
    stamp: ({ stamp, seen_shares }) => `${stamp} ${showsShares ? (seen_shares ?? '') : ''}`,
    ...(showsShares && { complete: (stamps, ctx) => completeStamps(ctx.db, ctx.actor, stamps) }),
    load: (ids, ctx) => listProjectRecords(ctx.db, ctx.actor, ids, options),
  })
}

export const keptProjects = keptAs(Project)
export const keptSimpleProjects = keptAs(ProjectSimple)
export const keptProject = keptAs(Project, { inheritedMembership: true })
export const keptPublicProject = keptAs(ProjectPublic)
