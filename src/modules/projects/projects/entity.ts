import { Type } from 'typebox'
import { visibilityName } from '../../../access/levels.ts'
import { allows, hasFeature } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { cacheableEntity } from '../../../api/record-view.ts'
import { accessLevel, dateOnly, described, nullable, timestamp } from '../../../api/schema.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { basic, basicOf, namespace, namespaceOf, ProjectSimple } from './basic-entity.ts'
import { cleanupPolicyOf, cleanupPolicySchema } from './cleanup-policy.ts'
import { featureFields, featuresOf } from './feature-fields.ts'
import type { ProjectRecordRow } from './record-queries.ts'
import { requestedFields, requestedOf } from './requested-fields.ts'
import {
  ciFields,
  ciSettingsOf,
  mergingFields,
  mergingSettingsOf,
  nullableFlag,
  nullableText,
  planFields,
  planSettingsOf,
} from './setting-fields.ts'
import { settingDefaults } from './settings.ts'
import { sharedWithGroups } from './shared-groups.ts'
import { projectFacts } from './subject.ts'

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
    ...featureFields,
    can_create_merge_request_in: Type.Boolean({ description: 'True if the caller may create merge requests' }),
    resolve_outdated_diff_discussions: described(
      nullableFlag,
      'True if discussions are resolved when their lines change; null if it was cleared',
    ),
    open_issues_count: Type.Optional(
      Type.Integer({
        description:
          'Number of open issues, without confidential ones below the reporter role; absent if issues are not available to the caller',
      }),
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
    ...ciFields,
    shared_with_groups: sharedWithGroups('project'),
    ...mergingFields,
    auto_devops_enabled: described(nullableFlag, 'True if Auto DevOps is enabled; null to inherit'),
    auto_devops_deploy_strategy: Type.String({
      enum: ['continuous', 'manual', 'timed_incremental'],
      description: 'Deployment strategy of Auto DevOps',
    }),
    repository_storage: Type.Optional(
      Type.String({ description: 'Storage of the repository; only for administrators' }),
    ),
    ...planFields,
    packages_enabled: Type.Boolean({ description: 'True if the package registry is enabled' }),
    container_expiration_policy: described(cleanupPolicySchema, 'Which tags of container images are deleted regularly'),
    service_desk_enabled: nullable(Type.Boolean(), { description: 'Null below the premium plan unless it was set' }),
    service_desk_address: described(nullableText, 'Always null; the service desk is not supported'),
    marked_for_deletion_at: Type.Optional(
      nullable(dateOnly(), { description: 'Same as `marked_for_deletion_on`', tier: 'premium' }),
    ),
    marked_for_deletion_on: Type.Optional(
      nullable(dateOnly(), { description: 'Day on which deletion was requested; null if it was not', tier: 'premium' }),
    ),
    forked_from_project: Type.Optional(described(ProjectSimple.schema, 'Source of the fork, if the caller can see it')),
    ...requestedFields,
  }),
  present(row: ProjectRecordRow & { withLicense?: boolean }, view) {
    const { site, actor, plan } = view
    const facts = projectFacts(row)
    const settings = { ...settingDefaults, ...row.settings }
    const administers = allows(projectPolicy.admin_project, actor, facts)
    const mayReadCode = allows(projectPolicy.read_code, actor, facts)
    const on = (feature: string) => hasFeature(feature, actor, facts)
    const issues = on('issues')
    const confidential = allows(projectPolicy.read_confidential_issue, actor, facts)
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
      ...featuresOf(row, on),
      can_create_merge_request_in: allows(projectPolicy.create_merge_request_in, actor, facts),
      resolve_outdated_diff_discussions: settings.resolve_outdated_diff_discussions,
      ...(issues && { open_issues_count: row.open_issues - (confidential ? 0 : row.open_confidential_issues) }),
      import_status: row.import_status,
      ...(administers && { import_error: row.import_error }),
      permissions: { project_access: row.project_member, group_access: row.group_member },
      shared_runners_enabled: settings.shared_runners_enabled,
      lfs_enabled: row.settings.lfs_enabled ?? row.namespace_lfs_enabled ?? settings.lfs_enabled,
      ...ciSettingsOf(row, settings, administers),
      shared_with_groups: row.shared_with_groups,
      ...mergingSettingsOf(settings),
      auto_devops_enabled: settings.auto_devops_enabled,
      auto_devops_deploy_strategy: settings.auto_devops_deploy_strategy,
      ...(actor?.admin && { repository_storage: row.repository_storage }),
      ...planSettingsOf(row, settings),
      packages_enabled: settings.packages_enabled,
      container_expiration_policy: cleanupPolicyOf(row.settings.container_expiration_policy),
      service_desk_enabled: row.settings.service_desk_enabled ?? (planOffers(plan, 'premium') ? true : null),
      service_desk_address: null,
      marked_for_deletion_at: row.marked_for_deletion_on,
      marked_for_deletion_on: row.marked_for_deletion_on,
      ...(row.forked_from && { forked_from_project: basicOf(row.forked_from, view, row.forked_from.readable) }),
      ...requestedOf(row, site, {
        readsCode: mayReadCode,
        readsStatistics: allows(projectPolicy.read_statistics, actor, facts),
      }),
    }
  },
})
