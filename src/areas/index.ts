import type { Endpoint } from '../api/endpoint.ts'
import type { Job } from '../jobs/job.ts'
import { accessRequestRoutes } from './access-requests/routes.ts'
import { appearanceRoutes } from './appearance/routes.ts'
import { applicationSettingRoutes } from './application-settings/routes.ts'
import { approvalRoutes } from './approvals/routes.ts'
import { archiveRoutes } from './archive/routes.ts'
import { archivingRoutes } from './archiving/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { awardEmojiRoutes } from './award-emoji/routes.ts'
import { badgeRoutes } from './badges/routes.ts'
import { blameRoutes } from './blame/routes.ts'
import { collectUnusedBlobs } from './blob-collection/jobs.ts'
import { deleteMergedBranches } from './branches/jobs.ts'
import { branchRoutes } from './branches/routes.ts'
import { broadcastMessageRoutes } from './broadcast-messages/routes.ts'
import { commitDiscussionRoutes } from './commit-comments/discussion-routes.ts'
import { commitCommentRoutes } from './commit-comments/routes.ts'
import { jobRoutes } from './commit-statuses/job-routes.ts'
import { commitStatusRoutes } from './commit-statuses/routes.ts'
import { pickRoutes } from './commits/pick-routes.ts'
import { commitRoutes } from './commits/routes.ts'
import { commitSequenceRoutes } from './commits/sequence-routes.ts'
import { commitWriteRoutes } from './commits/write-routes.ts'
import { compareRoutes } from './compare/routes.ts'
import { customAttributeRoutes } from './custom-attributes/routes.ts'
import { deployKeyRoutes } from './deploy-keys/routes.ts'
import { deployTokenRoutes } from './deploy-tokens/routes.ts'
import { contributedProjectRoutes } from './event-feed/project-routes.ts'
import { eventFeedRoutes } from './event-feed/routes.ts'
import { featureRoutes } from './features/routes.ts'
import { fileRoutes } from './files/routes.ts'
import { fileWriteRoutes } from './files/write-routes.ts'
import { followRoutes } from './follows/routes.ts'
import { copySource } from './forks/jobs.ts'
import { forkRoutes } from './forks/routes.ts'
import { gpgKeyRoutes } from './gpg-keys/routes.ts'
import { removeMarkedGroups, resumeGroupRemovals } from './groups/due-jobs.ts'
import { removeGroup } from './groups/jobs.ts'
import { groupRoutes } from './groups/routes.ts'
import { housekeepRepository } from './housekeeping/jobs.ts'
import { housekeepingRoutes } from './housekeeping/routes.ts'
import { failStuckImports, importFromUrl } from './imports/jobs.ts'
import { importRoutes } from './imports/routes.ts'
import { acceptInvitationsLater, purgeEndedInvitations } from './invitations/jobs.ts'
import { invitationRoutes } from './invitations/routes.ts'
import { labelEventRoutes } from './label-events/routes.ts'
import { labelPromotionRoutes } from './labels/promotion-routes.ts'
import { labelRoutes } from './labels/routes.ts'
import { refreshLanguages } from './languages/jobs.ts'
import { languageRoutes } from './languages/routes.ts'
import { deliverMail, purgeStaleMails } from './mails/jobs.ts'
import { purgeExpiredMembers } from './members/jobs.ts'
import { membershipRoutes } from './members/membership-routes.ts'
import { groupMemberRoutes, projectMemberRoutes } from './members/routes.ts'
import { projectUserRoutes } from './members/user-routes.ts'
import { commitMergeRequestRoutes } from './merge-requests/commit-routes.ts'
import { mergeRequestListRoutes } from './merge-requests/list-routes.ts'
import { milestoneMergeRequestRoutes } from './merge-requests/milestone-routes.ts'
import { mergeRequestPeopleRoutes } from './merge-requests/people-routes.ts'
import { mergeRequestRoutes } from './merge-requests/routes.ts'
import { mergeRequestVersionRoutes } from './merge-requests/version-routes.ts'
import { mergeAwaited } from './merging/auto-merge-job.ts'
import { checkMergeability } from './merging/check.ts'
import { rebaseSource } from './merging/rebase.ts'
import { removeMergedBranch } from './merging/remove-branch.ts'
import { mergingRoutes } from './merging/routes.ts'
import { settleCutOffMerges } from './merging/settle.ts'
import { closeUnlinked } from './merging/unlinked.ts'
import { updateMergeRequests } from './merging/update-job.ts'
import { milestoneRoutes } from './milestones/routes.ts'
import { namespaceExistsRoutes } from './namespaces/exists-routes.ts'
import { namespaceRoutes } from './namespaces/routes.ts'
import { discussionRoutes } from './notes/discussion-routes.ts'
import { noteRoutes } from './notes/routes.ts'
import { notificationSettingRoutes } from './notification-settings/routes.ts'
import { purgeEndedOauthTokens } from './oauth/jobs.ts'
import { pictureRoutes } from './pictures/routes.ts'
import { pipelineRoutes } from './pipelines/routes.ts'
import { copyTemplate } from './project-creation/jobs.ts'
import { projectCreationRoutes } from './project-creation/routes.ts'
import { removeMarkedProjects, removeProject, resumeProjectRemovals } from './projects/jobs.ts'
import { projectRoutes } from './projects/routes.ts'
import { protectedBranchRoutes } from './protected-branches/routes.ts'
import { protectedTagRoutes } from './protected-tags/routes.ts'
import { housekeepAfterPushes, refreshRepository } from './pushes/jobs.ts'
import { settleCutOffPushes } from './pushes/recovery.ts'
import { releaseLinkRoutes } from './releases/link-routes.ts'
import { releaseRoutes } from './releases/routes.ts'
import { removeRepositoryLeftovers } from './repositories/jobs.ts'
import { checkDueRepositories, checkRepository } from './repository-checks/jobs.ts'
import { removeIdleBots } from './resource-tokens/jobs.ts'
import { resourceTokenRoutes } from './resource-tokens/routes.ts'
import { searchRoutes } from './search/routes.ts'
import { projectGroupRoutes } from './shares/group-routes.ts'
import { purgeEndedShares } from './shares/jobs.ts'
import { shareRoutes } from './shares/routes.ts'
import { sharedProjectRoutes } from './shares/shared-project-routes.ts'
import { purgeEndedSessions } from './sign-in/jobs.ts'
import { judgeSignatures } from './signatures/jobs.ts'
import { signatureRoutes } from './signatures/routes.ts'
import { sshKeyRoutes } from './ssh-keys/routes.ts'
import { starRoutes } from './stars/routes.ts'
import { statisticsRoutes } from './statistics/routes.ts'
import { submoduleRoutes } from './submodules/routes.ts'
import { tellOfNote, tellOfTodos } from './subscriptions/jobs.ts'
import { subscriptionRoutes } from './subscriptions/routes.ts'
import { tagRoutes } from './tags/routes.ts'
import { templateRoutes } from './templates/routes.ts'
import { termsRoutes } from './terms/routes.ts'
import { timeTrackingRoutes } from './time-tracking/routes.ts'
import { todoRoutes } from './todos/routes.ts'
import { impersonationTokenRoutes } from './tokens/impersonation-routes.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { topicRoutes } from './topics/routes.ts'
import { transferLocationRoutes } from './transfers/location-routes.ts'
import { transferRoutes } from './transfers/routes.ts'
import { treeRoutes } from './trees/routes.ts'
import { twoFactorRoutes } from './two-factor/routes.ts'
import { uploadRoutes } from './uploads/routes.ts'
import { storedUploadRoutes } from './uploads/stored-routes.ts'
import { removeUser } from './user-removal/jobs.ts'
import { userRemovalRoutes } from './user-removal/routes.ts'
import { userStatusRoutes } from './user-statuses/routes.ts'
import { activityRoutes } from './users/activity-routes.ts'
import { emailRoutes } from './users/email-routes.ts'
import { purgeExpiredLinks } from './users/jobs.ts'
import { userRoutes } from './users/routes.ts'
import { stateRoutes } from './users/state-routes.ts'
import { variableRoutes } from './variables/routes.ts'
import { versionRoutes } from './version/routes.ts'

/** Every endpoint of the product, by the folder of its area; the documentation is ordered so, too. */
export const areas: Readonly<Record<string, readonly Endpoint[]>> = {
  'access-requests': accessRequestRoutes,
  appearance: appearanceRoutes,
  'application-settings': applicationSettingRoutes,
  approvals: approvalRoutes,
  archive: archiveRoutes,
  archiving: archivingRoutes,
  audit: auditRoutes,
  'award-emoji': awardEmojiRoutes,
  badges: badgeRoutes,
  blame: blameRoutes,
  branches: branchRoutes,
  'broadcast-messages': broadcastMessageRoutes,
  'commit-comments': [...commitCommentRoutes, ...commitDiscussionRoutes],
  'commit-statuses': [...commitStatusRoutes, ...jobRoutes],
  commits: [...commitRoutes, ...commitSequenceRoutes, ...commitWriteRoutes, ...pickRoutes],
  compare: compareRoutes,
  'event-feed': [...eventFeedRoutes, ...contributedProjectRoutes],
  'custom-attributes': customAttributeRoutes,
  'deploy-keys': deployKeyRoutes,
  'deploy-tokens': deployTokenRoutes,
  features: featureRoutes,
  files: [...fileRoutes, ...fileWriteRoutes],
  follows: followRoutes,
  forks: forkRoutes,
  'gpg-keys': gpgKeyRoutes,
  groups: groupRoutes,
  housekeeping: housekeepingRoutes,
  imports: importRoutes,
  invitations: invitationRoutes,
  'label-events': labelEventRoutes,
  labels: [...labelRoutes, ...labelPromotionRoutes],
  languages: languageRoutes,
  members: [...groupMemberRoutes, ...projectMemberRoutes, ...membershipRoutes, ...projectUserRoutes],
  milestones: [...milestoneRoutes, ...milestoneMergeRequestRoutes],
  'merge-requests': [
    ...mergeRequestListRoutes,
    ...mergeRequestRoutes,
    ...mergeRequestVersionRoutes,
    ...mergeRequestPeopleRoutes,
    ...commitMergeRequestRoutes,
  ],
  merging: mergingRoutes,
  namespaces: [...namespaceRoutes, ...namespaceExistsRoutes],
  notes: [...noteRoutes, ...discussionRoutes],
  pictures: pictureRoutes,
  pipelines: pipelineRoutes,
  'notification-settings': notificationSettingRoutes,
  'project-creation': projectCreationRoutes,
  projects: projectRoutes,
  'protected-branches': protectedBranchRoutes,
  'protected-tags': protectedTagRoutes,
  search: searchRoutes,
  releases: [...releaseRoutes, ...releaseLinkRoutes],
  'resource-tokens': resourceTokenRoutes,
  shares: [...shareRoutes, ...projectGroupRoutes, ...sharedProjectRoutes],
  signatures: signatureRoutes,
  'ssh-keys': sshKeyRoutes,
  stars: starRoutes,
  statistics: statisticsRoutes,
  submodules: submoduleRoutes,
  subscriptions: subscriptionRoutes,
  tags: tagRoutes,
  templates: templateRoutes,
  terms: termsRoutes,
  'time-tracking': timeTrackingRoutes,
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
}

export const endpoints: readonly Endpoint[] = Object.values(areas).flat()

/** Everything that happens later. */
export const jobs: readonly Job<any>[] = [
  acceptInvitationsLater,
  collectUnusedBlobs,
  copySource,
  copyTemplate,
  deleteMergedBranches,
  deliverMail,
  failStuckImports,
  housekeepRepository,
  checkRepository,
  checkDueRepositories,
  removeRepositoryLeftovers,
  importFromUrl,
  judgeSignatures,
  checkMergeability,
  closeUnlinked,
  mergeAwaited,
  rebaseSource,
  removeMergedBranch,
  settleCutOffMerges,
  updateMergeRequests,
  purgeEndedInvitations,
  purgeEndedOauthTokens,
  purgeEndedSessions,
  purgeEndedShares,
  purgeExpiredLinks,
  purgeExpiredMembers,
  purgeStaleMails,
  refreshLanguages,
  refreshRepository,
  housekeepAfterPushes,
  removeGroup,
  removeIdleBots,
  removeMarkedGroups,
  removeMarkedProjects,
  removeProject,
  removeUser,
  resumeGroupRemovals,
  resumeProjectRemovals,
  settleCutOffPushes,
  tellOfNote,
  tellOfTodos,
]
