import type { Endpoint } from '../api/endpoint.ts'
import { followRoutes } from './accounts/follows/routes.ts'
import { gpgKeyRoutes } from './accounts/gpg-keys/routes.ts'
import { sshKeyRoutes } from './accounts/ssh-keys/routes.ts'
import { impersonationTokenRoutes } from './accounts/tokens/impersonation-routes.ts'
import { tokenRoutes } from './accounts/tokens/routes.ts'
import { twoFactorRoutes } from './accounts/two-factor/routes.ts'
import { userStatusRoutes } from './accounts/user-statuses/routes.ts'
import { activityRoutes } from './accounts/users/activity-routes.ts'
import { emailRoutes } from './accounts/users/email-routes.ts'
import { userRoutes } from './accounts/users/routes.ts'
import { stateRoutes } from './accounts/users/state-routes.ts'
import { changeFeedRoutes } from './activity/change-feed/routes.ts'
import { contributedProjectRoutes } from './activity/event-feed/project-routes.ts'
import { eventFeedRoutes } from './activity/event-feed/routes.ts'
import { searchRoutes } from './activity/search/routes.ts'
import { todoRoutes } from './activity/todos/routes.ts'
import { appearanceRoutes } from './administration/appearance/routes.ts'
import { applicationSettingRoutes } from './administration/application-settings/routes.ts'
import { auditRoutes } from './administration/audit/routes.ts'
import { broadcastMessageRoutes } from './administration/broadcast-messages/routes.ts'
import { featureRoutes } from './administration/features/routes.ts'
import { pictureRoutes } from './administration/pictures/routes.ts'
import { deploymentRoutes } from './ci/deployments/routes.ts'
import { environmentRoutes } from './ci/environments/routes.ts'
import { pipelineRoutes } from './ci/pipelines/routes.ts'
import { accessRequestRoutes } from './groups/access-requests/routes.ts'
import { badgeRoutes } from './groups/badges/routes.ts'
import { customAttributeRoutes } from './groups/custom-attributes/routes.ts'
import { deployTokenRoutes } from './groups/deploy-tokens/routes.ts'
import { groupRoutes } from './groups/groups/routes.ts'
import { invitationRoutes } from './groups/invitations/routes.ts'
import { membershipRoutes } from './groups/members/membership-routes.ts'
import { groupMemberRoutes, projectMemberRoutes } from './groups/members/routes.ts'
import { projectUserRoutes } from './groups/members/user-routes.ts'
import { notificationSettingRoutes } from './groups/notification-settings/routes.ts'
import { resourceTokenRoutes } from './groups/resource-tokens/routes.ts'
import { projectGroupRoutes } from './groups/shares/group-routes.ts'
import { shareRoutes } from './groups/shares/routes.ts'
import { sharedProjectRoutes } from './groups/shares/shared-project-routes.ts'
import { userRemovalRoutes } from './groups/user-removal/routes.ts'
import { variableRoutes } from './groups/variables/routes.ts'
import { statisticsRoutes } from './instance/statistics/routes.ts'
import { termsRoutes } from './instance/terms/routes.ts'
import { versionRoutes } from './instance/version/routes.ts'
import { deliveryRoutes } from './integrations/deliveries/routes.ts'
import { serviceDeliveryRoutes } from './integrations/deliveries/service-routes.ts'
import { systemHookRoutes } from './integrations/deliveries/system-routes.ts'
import { hookRoutes } from './integrations/hooks/routes.ts'
import { serviceRoutes } from './integrations/services/routes.ts'
import { forkRoutes } from './lifecycle/forks/routes.ts'
import { importRoutes } from './lifecycle/imports/routes.ts'
import { projectCreationRoutes } from './lifecycle/project-creation/routes.ts'
import { projectEditRoutes } from './lifecycle/project-edits/routes.ts'
import { pullMirrorRoutes } from './lifecycle/pull-mirrors/routes.ts'
import { pushMirrorRoutes } from './lifecycle/push-mirrors/routes.ts'
import { transferLocationRoutes } from './lifecycle/transfers/location-routes.ts'
import { transferRoutes } from './lifecycle/transfers/routes.ts'
import { namespaceExistsRoutes } from './namespaces/namespaces/exists-routes.ts'
import { namespaceRoutes } from './namespaces/namespaces/routes.ts'
import { boardListRoutes } from './planning/boards/list-routes.ts'
import { boardRoutes } from './planning/boards/routes.ts'
import { epicChildRoutes } from './planning/epic-children/routes.ts'
import {
  epicAwardEmojiRoutes,
  epicLabelEventRoutes,
  epicNoteRoutes,
  epicStateEventRoutes,
  epicSubscriptionRoutes,
} from './planning/epic-discussions/routes.ts'
import { epicIssueRoutes } from './planning/epic-issues/routes.ts'
import { epicListRoutes } from './planning/epic-lists/routes.ts'
import { epicRoutes } from './planning/epic-writing/routes.ts'
import {
  issueAwardEmojiRoutes,
  issueLabelEventRoutes,
  issueMilestoneEventRoutes,
  issueNoteRoutes,
  issueStateEventRoutes,
  issueTimeTrackingRoutes,
} from './planning/issue-discussions/routes.ts'
import { issueSubscriptionRoutes } from './planning/issue-discussions/subscription-routes.ts'
import { issueLinkRoutes } from './planning/issue-links/routes.ts'
import { milestoneIssueRoutes } from './planning/issue-lists/milestone-routes.ts'
import { issueListRoutes } from './planning/issue-lists/routes.ts'
import { issueStatisticsRoutes } from './planning/issue-lists/statistics-routes.ts'
import { issueMoveRoutes } from './planning/issue-moves/routes.ts'
import { issueOrderRoutes } from './planning/issue-order/routes.ts'
import { issueRoutes } from './planning/issue-writing/routes.ts'
import { issueAgentRoutes } from './planning/issues/agent-routes.ts'
import { labelPromotionRoutes } from './planning/labels/promotion-routes.ts'
import { labelRoutes } from './planning/labels/routes.ts'
import { milestoneRoutes } from './planning/milestones/routes.ts'
import { releaseMilestones } from './planning/release-milestones/service.ts'
import { exportRoutes } from './portability/exports/routes.ts'
import { forgeRoutes } from './portability/forges/routes.ts'
import { groupImportRoutes } from './portability/imports/group-routes.ts'
import { projectImportRoutes } from './portability/imports/routes.ts'
import { archivingRoutes } from './projects/archiving/routes.ts'
import { deployKeyRoutes } from './projects/deploy-keys/routes.ts'
import { languageRoutes } from './projects/languages/routes.ts'
import { projectRoutes } from './projects/projects/routes.ts'
import { starRoutes } from './projects/stars/routes.ts'
import { topicRoutes } from './projects/topics/routes.ts'
import { uploadRoutes } from './projects/uploads/routes.ts'
import { storedUploadRoutes } from './projects/uploads/stored-routes.ts'
import { housekeepingRoutes } from './pushes/housekeeping/routes.ts'
import { protectedBranchRoutes } from './pushes/protected-branches/routes.ts'
import { protectedTagRoutes } from './pushes/protected-tags/routes.ts'
import { pushRuleRoutes } from './pushes/push-rules/routes.ts'
import { registryRepositoryRoutes } from './registry/images/routes.ts'
import { registryTagRoutes } from './registry/tags/routes.ts'
import { archiveRoutes } from './repository/archive/routes.ts'
import { blameRoutes } from './repository/blame/routes.ts'
import { branchRoutes } from './repository/branches/routes.ts'
import { ciLintRoutes } from './repository/ci-lint/routes.ts'
import { commitCommentRoutes, commitDiscussionRoutes } from './repository/commit-comments/routes.ts'
import { jobRoutes } from './repository/commit-statuses/job-routes.ts'
import { commitStatusRoutes } from './repository/commit-statuses/routes.ts'
import { pickRoutes } from './repository/commits/pick-routes.ts'
import { commitRoutes } from './repository/commits/routes.ts'
import { commitSequenceRoutes } from './repository/commits/sequence-routes.ts'
import { commitWriteRoutes } from './repository/commits/write-routes.ts'
import { compareRoutes } from './repository/compare/routes.ts'
import { fileRoutes } from './repository/files/routes.ts'
import { fileWriteRoutes } from './repository/files/write-routes.ts'
import { releaseLinkRoutes } from './repository/releases/link-routes.ts'
import { releaseRoutes } from './repository/releases/routes.ts'
import { signatureRoutes } from './repository/signatures/routes.ts'
import { storageRoutes } from './repository/storage/routes.ts'
import { submoduleRoutes } from './repository/submodules/routes.ts'
import { tagRoutes } from './repository/tags/routes.ts'
import { templateRoutes } from './repository/templates/routes.ts'
import { treeRoutes } from './repository/trees/routes.ts'
import { approvalRuleRoutes } from './review/approval-rules/routes.ts'
import { approvalRoutes } from './review/approvals/routes.ts'
import {
  awardEmojiRoutes,
  discussionRoutes,
  labelEventRoutes,
  milestoneEventRoutes,
  noteRoutes,
  stateEventRoutes,
  timeTrackingRoutes,
} from './review/discussions/routes.ts'
import { subscriptionRoutes } from './review/discussions/subscription-routes.ts'
import { followUpOf } from './review/follow-ups/follow-up.ts'
import { mergeRequestVersionRoutes } from './review/merge-requests/version-routes.ts'
import { mergingRoutes } from './review/merging/routes.ts'
import { closedIssueRoutes, closingMergeRequestRoutes } from './review/reading/closing-routes.ts'
import { commitMergeRequestRoutes } from './review/reading/commit-routes.ts'
import { deploymentMergeRequestRoutes } from './review/reading/deployment-routes.ts'
import { mergeRequestListRoutes } from './review/reading/list-routes.ts'
import { milestoneMergeRequestRoutes } from './review/reading/milestone-routes.ts'
import { mergeRequestReadRoutes } from './review/reading/routes.ts'
import { suggestionRoutes } from './review/suggestions/routes.ts'
import { userCountRoutes } from './review/user-counts/routes.ts'
import { mergeRequestRoutes } from './review/writing/routes.ts'
import { markdownRoutes } from './text/markdown/routes.ts'
import { snippetAwardEmojiRoutes, snippetNoteRoutes } from './text/snippet-discussions/routes.ts'
import { personalSnippetRoutes } from './text/snippets/personal-routes.ts'
import { snippetRoutes } from './text/snippets/routes.ts'
import { wikiRoutes } from './text/wikis/routes.ts'

/** Every endpoint of the product, by the folder of its area; the documentation is ordered so, too. */
export const areas: Readonly<Record<string, readonly Endpoint[]>> = {
  'access-requests': accessRequestRoutes,
  appearance: appearanceRoutes,
  'application-settings': applicationSettingRoutes,
  'approval-rules': approvalRuleRoutes,
  approvals: approvalRoutes,
  archive: archiveRoutes,
  archiving: archivingRoutes,
  audit: auditRoutes,
  'award-emoji': [...awardEmojiRoutes, ...issueAwardEmojiRoutes, ...snippetAwardEmojiRoutes, ...epicAwardEmojiRoutes],
  badges: badgeRoutes,
  blame: blameRoutes,
  boards: [...boardRoutes, ...boardListRoutes],
  branches: branchRoutes,
  'broadcast-messages': broadcastMessageRoutes,
  'ci-lint': ciLintRoutes,
  'commit-comments': [...commitCommentRoutes, ...commitDiscussionRoutes],
  'commit-statuses': [...commitStatusRoutes, ...jobRoutes],
  commits: [...commitRoutes, ...commitSequenceRoutes, ...commitWriteRoutes, ...pickRoutes],
  compare: compareRoutes,
  deployments: deploymentRoutes,
  environments: environmentRoutes,
  epics: [...epicListRoutes, ...epicRoutes, ...epicIssueRoutes, ...epicChildRoutes],
  'change-feed': changeFeedRoutes,
  'event-feed': [...eventFeedRoutes, ...contributedProjectRoutes],
  'container-registry': [...registryRepositoryRoutes, ...registryTagRoutes],
  'custom-attributes': customAttributeRoutes,
  'deploy-keys': deployKeyRoutes,
  'deploy-tokens': deployTokenRoutes,
  features: featureRoutes,
  files: [...fileRoutes, ...fileWriteRoutes],
  follows: followRoutes,
  exports: exportRoutes,
  forks: forkRoutes,
  'gpg-keys': gpgKeyRoutes,
  groups: groupRoutes,
  hooks: [...hookRoutes, ...deliveryRoutes, ...systemHookRoutes],
  housekeeping: housekeepingRoutes,
  imports: [...importRoutes, ...projectImportRoutes, ...groupImportRoutes, ...forgeRoutes],
  invitations: invitationRoutes,
  'issue-links': issueLinkRoutes,
  'issue-order': issueOrderRoutes,
  issues: [
    ...issueListRoutes,
    ...issueStatisticsRoutes,
    ...issueRoutes(followUpOf),
    ...issueMoveRoutes,
    ...issueAgentRoutes,
    ...closingMergeRequestRoutes,
  ],
  'label-events': [...labelEventRoutes, ...issueLabelEventRoutes, ...epicLabelEventRoutes],
  labels: [...labelRoutes, ...labelPromotionRoutes],
  languages: languageRoutes,
  members: [...groupMemberRoutes, ...projectMemberRoutes, ...membershipRoutes, ...projectUserRoutes],
  markdown: markdownRoutes,
  'milestone-events': [...milestoneEventRoutes, ...issueMilestoneEventRoutes],
  milestones: [...milestoneRoutes, ...milestoneIssueRoutes, ...milestoneMergeRequestRoutes],
  'merge-requests': [
    ...mergeRequestListRoutes,
    ...mergeRequestRoutes,
    ...mergeRequestReadRoutes,
    ...mergeRequestVersionRoutes,
    ...userCountRoutes,
    ...commitMergeRequestRoutes,
    ...closedIssueRoutes,
    ...deploymentMergeRequestRoutes,
  ],
  merging: mergingRoutes,
  namespaces: [...namespaceRoutes, ...namespaceExistsRoutes],
  notes: [...noteRoutes, ...discussionRoutes, ...issueNoteRoutes, ...snippetNoteRoutes, ...epicNoteRoutes],
  pictures: pictureRoutes,
  pipelines: pipelineRoutes,
  'notification-settings': notificationSettingRoutes,
  'project-creation': projectCreationRoutes,
  projects: [...projectRoutes, ...projectEditRoutes],
  'protected-branches': protectedBranchRoutes,
  'protected-tags': protectedTagRoutes,
  'pull-mirrors': pullMirrorRoutes,
  'push-mirrors': pushMirrorRoutes,
  'push-rules': pushRuleRoutes,
  search: searchRoutes,
  services: [...serviceRoutes, ...serviceDeliveryRoutes],
  releases: [...releaseRoutes(releaseMilestones), ...releaseLinkRoutes],
  'resource-tokens': resourceTokenRoutes,
  shares: [...shareRoutes, ...projectGroupRoutes, ...sharedProjectRoutes],
  signatures: signatureRoutes,
  snippets: [...snippetRoutes, ...personalSnippetRoutes],
  'ssh-keys': sshKeyRoutes,
  stars: starRoutes,
  'state-events': [...stateEventRoutes, ...issueStateEventRoutes, ...epicStateEventRoutes],
  statistics: statisticsRoutes,
  storage: storageRoutes,
  submodules: submoduleRoutes,
  subscriptions: [...subscriptionRoutes, ...issueSubscriptionRoutes, ...epicSubscriptionRoutes],
  suggestions: suggestionRoutes,
  tags: tagRoutes,
  templates: templateRoutes,
  terms: termsRoutes,
  'time-tracking': [...timeTrackingRoutes, ...issueTimeTrackingRoutes],
  todos: todoRoutes,
  tokens: [...tokenRoutes, ...impersonationTokenRoutes],
  topics: topicRoutes,
  transfers: [...transferRoutes, ...transferLocationRoutes],
  trees: treeRoutes,
  'two-factor': twoFactorRoutes,
  uploads: [...uploadRoutes, ...storedUploadRoutes],
  'user-removal': userRemovalRoutes,
  'user-statuses': userStatusRoutes,
  users: [...userRoutes, ...stateRoutes, ...emailRoutes, ...activityRoutes],
  variables: variableRoutes,
  version: versionRoutes,
  wikis: wikiRoutes,
}

export const endpoints: readonly Endpoint[] = Object.values(areas).flat()
