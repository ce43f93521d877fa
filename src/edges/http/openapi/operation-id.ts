import type { Endpoint } from '../../../api/endpoint.ts'
import { capitalized } from '../../../kernel/capitalized.ts'

type Named = Pick<Endpoint, 'method' | 'path' | 'paged' | 'returns'>

/** Last words of a path that name what the call does: `/merge_requests/:iid/approve`. */
const actions: ReadonlySet<string> = new Set(
  `accept activate approve archive ban block cherry_pick confirm deactivate enable follow merge promote protect rebase
   restore revert revoke rotate share star subscribe transfer unapprove unarchive unban unblock unfollow unprotect unstar
   unsubscribe`.split(/\s+/),
)

/** Segments that group paths and add nothing to the name. */
const silent: ReadonlySet<string> = new Set(['-', 'repository', 'assets'])

/** Names where the rule gives a clumsy or an ambiguous one, by method and path. */
export const namedOperations: Readonly<Record<string, string>> = {
  'GET /user': 'getCurrentUser',
  'POST /user/terms/accept': 'acceptTerms',
  'GET /user/terms': 'getTerms',
  'GET /user/activities': 'listUserActivities',
  'GET /admin/ci/variables': 'listInstanceVariables',
  'POST /admin/ci/variables': 'createInstanceVariable',
  'GET /admin/ci/variables/:key': 'getInstanceVariable',
  'PUT /admin/ci/variables/:key': 'updateInstanceVariable',
  'DELETE /admin/ci/variables/:key': 'deleteInstanceVariable',
  'POST /user/two_factor': 'startCurrentUserTwoFactor',
  'DELETE /user/two_factor': 'disableCurrentUserTwoFactor',
  'POST /user/two_factor/recovery_codes': 'regenerateCurrentUserRecoveryCodes',
  'PUT /users/:id/disable_two_factor': 'disableUserTwoFactor',
  'PATCH /users/:id/disable_two_factor': 'disableUserTwoFactorByPatch',
  'POST /features/:name': 'setFeature',
  'POST /groups/:id/projects/:project_id': 'transferProjectToGroup',
  'GET /groups/:id/projects/shared': 'listGroupSharedProjects',
  'POST /groups/:id/epics/:epic_iid/issues/:epic_issue_id': 'addGroupEpicIssue',
  'PUT /groups/:id/epics/:epic_iid/issues/:epic_issue_id': 'moveGroupEpicIssue',
  'DELETE /groups/:id/epics/:epic_iid/issues/:epic_issue_id': 'removeGroupEpicIssue',
  'GET /groups/:id/epics/:epic_iid/epics': 'listGroupEpicChildren',
  'POST /groups/:id/epics/:epic_iid/epics': 'createGroupEpicChild',
  'POST /groups/:id/epics/:epic_iid/epics/:child_epic_id': 'addGroupEpicChild',
  'PUT /groups/:id/epics/:epic_iid/epics/:child_epic_id': 'moveGroupEpicChild',
  'DELETE /groups/:id/epics/:epic_iid/epics/:child_epic_id': 'removeGroupEpicChild',
  'GET /groups/:id/epics/:epic_iid/links': 'listGroupEpicLinks',
  'POST /groups/:id/epics/:epic_iid/links': 'createGroupEpicLink',
  'POST /groups/:id/epics/:epic_iid/links/:child_epic_id': 'addGroupEpicLink',
  'PUT /groups/:id/epics/:epic_iid/links/:child_epic_id': 'moveGroupEpicLink',
  'DELETE /groups/:id/epics/:epic_iid/links/:child_epic_id': 'removeGroupEpicLink',
  'POST /groups/:id/epics/:epic_iid/todos': 'addGroupEpicTodo',
  'GET /groups/:id/search': 'searchGroup',
  'GET /groups/:id/-/search': 'searchGroupDashed',
  'GET /projects/:id/search': 'searchProject',
  'GET /projects/:id/-/search': 'searchProjectDashed',
  'GET /search': 'searchInstance',
  'GET /groups/:id/badges/render': 'previewGroupBadge',
  'GET /projects/:id/badges/render': 'previewProjectBadge',
  'GET /groups/:id/members/all': 'listAllGroupMembers',
  'GET /projects/:id/members/all': 'listAllProjectMembers',
  'GET /groups/:id/members/all/:user_id': 'getAnyGroupMember',
  'GET /projects/:id/members/all/:user_id': 'getAnyProjectMember',
  'PUT /groups/:id/labels': 'updateGroupLabelByName',
  'DELETE /groups/:id/labels': 'deleteGroupLabelByName',
  'PUT /projects/:id/labels': 'updateProjectLabelByName',
  'DELETE /projects/:id/labels': 'deleteProjectLabelByName',
  'PUT /projects/:id/labels/promote': 'promoteProjectLabelByName',
  'PUT /groups/:id/custom_attributes/:key': 'setGroupCustomAttribute',
  'PUT /projects/:id/custom_attributes/:key': 'setProjectCustomAttribute',
  'PUT /users/:id/custom_attributes/:key': 'setUserCustomAttribute',
  'PUT /user/status': 'setCurrentUserStatus',
  'DELETE /groups/:id/share/:group_id': 'unshareGroup',
  'DELETE /projects/:id/share/:group_id': 'unshareProject',
  'DELETE /personal_access_tokens/:id': 'revokePersonalAccessToken',
  'GET /personal_access_tokens/self': 'getCurrentToken',
  'DELETE /personal_access_tokens/self': 'revokeCurrentToken',
  'POST /personal_access_tokens/self/rotate': 'rotateCurrentToken',
  'DELETE /users/:id/impersonation_tokens/:impersonation_token_id': 'revokeUserImpersonationToken',
  'DELETE /groups/:id/access_tokens/:token_id': 'revokeGroupAccessToken',
  'DELETE /projects/:id/access_tokens/:token_id': 'revokeProjectAccessToken',
  'POST /groups/:id/access_tokens/self/rotate': 'rotateCurrentGroupToken',
  'POST /projects/:id/access_tokens/self/rotate': 'rotateCurrentProjectToken',
  'DELETE /groups/:id/deploy_tokens/:token_id': 'revokeGroupDeployToken',
  'DELETE /projects/:id/deploy_tokens/:token_id': 'revokeProjectDeployToken',
  'GET /keys': 'findKeyByFingerprint',
  'GET /namespaces/:id/exists': 'checkNamespaceExists',
  'POST /projects/user/:id': 'createProjectForUser',
  'POST /projects/:id/fork': 'forkProject',
  'POST /projects/:id/fork/:forked_from_id': 'createProjectForkRelation',
  'DELETE /projects/:id/fork': 'deleteProjectForkRelation',
  'POST /groups/:id/hooks/:hook_id/test': 'testGroupHook',
  'POST /groups/:id/hooks/:hook_id/test/:trigger': 'testGroupHookTrigger',
  'POST /groups/:id/hooks/:hook_id/replay': 'replayGroupHookEvents',
  'POST /groups/:id/hooks/:hook_id/events/:event_id/resend': 'resendGroupHookEvent',
  'POST /projects/:id/hooks/:hook_id/test': 'testProjectHook',
  'POST /projects/:id/hooks/:hook_id/test/:trigger': 'testProjectHookTrigger',
  'POST /projects/:id/hooks/:hook_id/replay': 'replayProjectHookEvents',
  'POST /projects/:id/hooks/:hook_id/events/:event_id/resend': 'resendProjectHookEvent',
  'GET /hooks': 'listSystemHooks',
  'POST /hooks': 'createSystemHook',
  'GET /hooks/:hook_id': 'testSystemHook',
  'POST /hooks/:hook_id': 'testSystemHookByPost',
  'PUT /hooks/:hook_id': 'updateSystemHook',
  'DELETE /hooks/:hook_id': 'deleteSystemHook',
  'GET /hooks/:hook_id/events': 'listSystemHookEvents',
  'POST /hooks/:hook_id/events/:event_id/resend': 'resendSystemHookEvent',
  'POST /hooks/:hook_id/replay': 'replaySystemHookEvents',
  'POST /hooks/:hook_id/test/:trigger': 'testSystemHookTrigger',
  'POST /projects/:id/housekeeping': 'startProjectHousekeeping',
  'GET /projects/:id/import': 'getProjectImportStatus',
  'GET /projects/:id/uploads/:upload_id': 'downloadProjectUpload',
  'POST /projects/:id/uploads': 'uploadProjectFile',
  'GET /projects/:id/uploads/:secret/:filename': 'downloadProjectUploadByPath',
  'DELETE /projects/:id/uploads/:secret/:filename': 'deleteProjectUploadByPath',
  'GET /projects/:id/repository/archive': 'downloadProjectArchive',
  'GET /projects/:id/repository/archive.:format': 'downloadProjectArchiveAs',
  'GET /projects/:id/repository/compare': 'compareProjectRefs',
  'GET /projects/:id/repository/commits/:sha/diff': 'getProjectCommitDiff',
  'GET /projects/:id/repository/files/:file_path/blame': 'getProjectFileBlame',
  'GET /projects/:id/repository/files/:file_path/raw': 'getRawProjectFile',
  'GET /projects/:id/repository/blobs/:sha/raw': 'getRawProjectBlob',
  'GET /projects/:id/jobs/:job_id/trace': 'getProjectJobLog',
  'POST /projects/:id/environments/:environment_id/stop': 'stopProjectEnvironment',
  'GET /projects/:id/pipelines/latest': 'getLatestProjectPipeline',
  'GET /projects/:id/releases/permalink/latest': 'getLatestProjectRelease',
  'POST /projects/:id/repository/tags/:tag_name/release': 'createProjectTagReleaseNotes',
  'PUT /projects/:id/repository/tags/:tag_name/release': 'updateProjectTagReleaseNotes',
  'POST /projects/:id/statuses/:sha': 'setProjectCommitStatus',
  'GET /projects/:id/templates/:type': 'listProjectTemplates',
  'GET /templates/dockerfiles': 'listDockerfileTemplates',
  'GET /templates/dockerfiles/:key': 'getDockerfileTemplate',
  'GET /templates/gitignores': 'listGitignoreTemplates',
  'GET /templates/gitignores/:key': 'getGitignoreTemplate',
  'GET /templates/gitlab_ci_ymls': 'listPipelineTemplates',
  'GET /templates/gitlab_ci_ymls/:key': 'getPipelineTemplate',
  'GET /templates/licenses': 'listLicenseTemplates',
  'GET /templates/licenses/:key': 'getLicenseTemplate',
  'POST /topics/merge': 'mergeTopics',
  'PUT /suggestions/:id/apply': 'applySuggestion',
  'PUT /suggestions/batch_apply': 'applySuggestions',
  'POST /todos/mark_as_done': 'markAllTodosAsDone',
  'POST /todos/:id/mark_as_done': 'markTodoAsDone',
  'POST /projects/:id/merge_requests/:merge_request_iid/approvals': 'setProjectMergeRequestApprovals',
  'POST /projects/:id/approvals': 'setProjectApprovals',
  'PUT /projects/:id/merge_requests/:merge_request_iid/reset_approvals': 'resetProjectMergeRequestApprovals',
  'PUT /projects/:id/merge_requests/:merge_request_iid/approvers': 'setProjectMergeRequestApprovers',
  'POST /projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds':
    'cancelProjectMergeRequestAutoMerge',
  'POST /projects/:id/merge_requests/:merge_request_iid/add_spent_time': 'addProjectMergeRequestSpentTime',
  'POST /projects/:id/merge_requests/:merge_request_iid/reset_spent_time': 'resetProjectMergeRequestSpentTime',
  'POST /projects/:id/merge_requests/:merge_request_iid/time_estimate': 'setProjectMergeRequestTimeEstimate',
  'POST /projects/:id/merge_requests/:merge_request_iid/reset_time_estimate': 'resetProjectMergeRequestTimeEstimate',
  'PUT /projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id':
    'resolveProjectMergeRequestDiscussion',
}

const verbs = { POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' } as const

/**
 * The name of a call as a method of a generated client: `GET /projects/:id/members` → `listProjectMembers`,
 * `PUT /groups/:id/access_requests/:user_id/approve` → `approveGroupAccessRequest`. A segment that a parameter or an
 * action follows is singular, and so is what a POST creates; `/user/…` is the current user. Exceptions are in `namedOperations`.
 */
export function operationIdOf(e: Named): string {
  const named = namedOperations[`${e.method} ${e.path}`]
  if (named !== undefined) return named
  const segments = e.path.split('/').filter((segment) => segment !== '' && !silent.has(segment))
  const last = segments.at(-1)!
  const action = segments.length > 1 && actions.has(last) ? segments.pop() : undefined
  const nouns = segments.flatMap((segment, at) => {
    if (segment.startsWith(':')) return []
    if (segment === 'user' && at === 0 && segments.length > 1) return ['current_user']
    const next = segments[at + 1]
    const isOne = next === undefined ? action !== undefined || e.method === 'POST' : next.startsWith(':')
    return [isOne ? singular(segment) : segment]
  })
  return camel([action ?? verbOf(e), ...nouns])
}

const verbOf = ({ method, paged, returns }: Named): string =>
  method !== 'GET' ? verbs[method] : paged || (returns !== null && 'list' in returns) ? 'list' : 'get'

function singular(plural: string): string {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`
  if (/(ch|us)es$/.test(plural)) return plural.slice(0, -2)
  return /[^su]s$/.test(plural) ? plural.slice(0, -1) : plural
}

const camel = (words: readonly string[]): string =>
  words
    .flatMap((word) => word.split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== '')
    .map((word, at) => (at === 0 ? word : capitalized(word)))
    .join('')
