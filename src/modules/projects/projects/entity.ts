import { Type } from 'typebox'
import { featureLevelName, visibilityName } from '../../../access/levels.ts'
import { allows, hasFeature } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { cachedRecords } from '../../../api/cached-records.ts'
import { type CacheableEntity, cacheableEntity, type RecordView } from '../../../api/record-view.ts'
import { dateOnly, nullable, timestamp } from '../../../api/schema.ts'
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
import { projectFacts } from './subject.ts'

const basic = {
  id: Type.Integer(),
  description: nullable(Type.String()),
  default_branch: Type.Optional(nullable(Type.String({ description: 'Only for users who may read the code' }))),
  ssh_url_to_repo: Type.String(),
  http_url_to_repo: Type.String(),
  web_url: Type.String(),
  readme_url: nullable(Type.String()),
  tag_list: Type.Array(Type.String()),
  topics: Type.Array(Type.String()),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  created_at: timestamp(),
  last_activity_at: timestamp(),
  forks_count: Type.Integer(),
  avatar_url: nullable(Type.String()),
  star_count: Type.Integer(),
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

/** What `simple=true` and anonymous callers get. */
export const ProjectSimple = cacheableEntity({
  name: 'ProjectSimple',
  schema: Type.Object(basic),
  present: (row: ProjectRecordRow, view) => basicOf(row, view, readsCode(row, view)),
})

const namespace = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  path: Type.String(),
  kind: Type.String({ enum: ['user', 'group'] }),
  full_path: Type.String(),
  parent_id: nullable(Type.Integer()),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
})

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

/** One project as nobody known sees it. */
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

const access = nullable(Type.Object({ access_level: Type.Integer(), notification_level: Type.Integer() }))
const featureLevel = Type.String({ enum: ['disabled', 'private', 'enabled'] })
const statistics = Type.Object({
  commit_count: Type.Integer(),
  storage_size: Type.Integer(),
  repository_size: Type.Integer(),
  wiki_size: Type.Integer(),
  lfs_objects_size: Type.Integer(),
  job_artifacts_size: Type.Integer(),
  packages_size: Type.Integer(),
})
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
        { ...UserReferenceSchema.properties, created_at: timestamp() },
        { description: 'Owner; only for projects in personal namespaces' },
      ),
    ),
    _links: Type.Object({
      self: Type.String(),
      issues: Type.Optional(Type.String()),
      merge_requests: Type.Optional(Type.String()),
      repo_branches: Type.String(),
      labels: Type.String(),
      events: Type.String(),
      members: Type.String(),
    }),
    visibility: Type.Union([Type.Literal('private'), Type.Literal('internal'), Type.Literal('public')]),
    archived: Type.Boolean(),
    empty_repo: Type.Boolean(),
    creator_id: nullable(Type.Integer()),
    issues_enabled: Type.Boolean(),
    merge_requests_enabled: Type.Boolean(),
    jobs_enabled: Type.Boolean(),
    wiki_enabled: Type.Boolean(),
    snippets_enabled: Type.Boolean(),
    container_registry_enabled: Type.Boolean(),
    issues_access_level: featureLevel,
    repository_access_level: featureLevel,
    merge_requests_access_level: featureLevel,
    builds_access_level: featureLevel,
    wiki_access_level: featureLevel,
    snippets_access_level: featureLevel,
    forking_access_level: featureLevel,
    pages_access_level: Type.String({ enum: ['disabled', 'private', 'enabled', 'public'] }),
    can_create_merge_request_in: Type.Boolean(),
    resolve_outdated_diff_discussions: nullableFlag,
    open_issues_count: Type.Optional(Type.Integer({ description: 'Issues are enabled' })),
    import_status: Type.String({ enum: ['none', 'scheduled', 'started', 'finished', 'failed'] }),
    import_error: Type.Optional(nullable(Type.String({ description: 'For maintainers' }))),
    permissions: Type.Object({ project_access: access, group_access: access }),
    shared_runners_enabled: Type.Boolean(),
    lfs_enabled: Type.Boolean(),
    runners_token: Type.Optional(Type.String({ description: 'For maintainers' })),
    ci_default_git_depth: nullable(Type.Integer()),
    ci_config_path: nullableText,
    build_git_strategy: Type.Optional(Type.String({ description: 'For maintainers' })),
    build_timeout: Type.Integer(),
    build_coverage_regex: nullableText,
    auto_cancel_pending_pipelines: Type.String(),
    public_jobs: Type.Boolean(),
    shared_with_groups: Type.Array(
      Type.Object({
        group_id: Type.Integer(),
        group_name: Type.String(),
        group_full_path: Type.String(),
        group_access_level: Type.Integer(),
        expires_at: nullable(dateOnly()),
      }),
    ),
    only_allow_merge_if_pipeline_succeeds: Type.Boolean(),
    only_allow_merge_if_all_discussions_are_resolved: nullableFlag,
    remove_source_branch_after_merge: nullableFlag,
    printing_merge_request_link_enabled: Type.Boolean(),
    request_access_enabled: Type.Boolean(),
    autoclose_referenced_issues: nullableFlag,
    merge_method: Type.String({ enum: ['merge', 'rebase_merge', 'ff'] }),
    suggestion_commit_message: nullableText,
    auto_devops_enabled: nullableFlag,
    auto_devops_deploy_strategy: Type.String(),
    repository_storage: Type.Optional(Type.String({ description: 'For administrators' })),
    approvals_before_merge: Type.Optional(Type.Integer({ tier: 'starter' })),
    mirror: Type.Optional(Type.Boolean({ tier: 'starter' })),
    mirror_user_id: Type.Optional(nullable(Type.Integer(), { tier: 'starter', description: 'Only for mirrors' })),
    mirror_trigger_builds: Type.Optional(Type.Boolean({ tier: 'starter', description: 'Only for mirrors' })),
    only_mirror_protected_branches: Type.Optional(
      nullable(Type.Boolean(), { tier: 'starter', description: 'Only for mirrors' }),
    ),
    mirror_overwrites_diverged_branches: Type.Optional(
      nullable(Type.Boolean(), { tier: 'starter', description: 'Only for mirrors' }),
    ),
    external_authorization_classification_label: Type.Optional(nullable(Type.String(), { tier: 'premium' })),
    compliance_frameworks: Type.Optional(
      Type.Array(Type.String(), { tier: 'premium', description: 'Always empty; not supported' }),
    ),
    packages_enabled: Type.Boolean(),
    service_desk_enabled: nullable(Type.Boolean(), { description: 'Null below the premium plan unless it was set' }),
    service_desk_address: nullableText,
    marked_for_deletion_at: Type.Optional(nullable(dateOnly(), { tier: 'premium' })),
    marked_for_deletion_on: Type.Optional(nullable(dateOnly(), { tier: 'premium' })),
    forked_from_project: Type.Optional(
      Type.Object({ ...basic }, { description: 'Source of the fork, if the caller can see it' }),
    ),
    license_url: Type.Optional(nullable(Type.String({ description: 'Present with `license=true`' }))),
    license: Type.Optional(
      nullable(
        Type.Object({
          key: Type.String(),
          name: Type.String(),
          nickname: nullableText,
          html_url: nullableText,
          source_url: nullableText,
        }),
      ),
    ),
    statistics: Type.Optional(nullable(statistics, { description: 'Present with `statistics=true`, for reporters' })),
    custom_attributes: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Type.String() }))),
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
      // Pull mirrors come with their own area; until a project can be one, none is.
      mirror: false,
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
