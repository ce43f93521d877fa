import type { Job } from '../jobs/job.ts'
import { purgeEndedOauthTokens } from './accounts/oauth/jobs.ts'
import { mailEndingTokens } from './accounts/tokens/ending.ts'
import { purgeExpiredLinks } from './accounts/users/jobs.ts'
import { deliverProjectMail, mailMoveJob, mailPipelineJob, mailReleaseJob } from './activity/project-mails/jobs.ts'
import { mailMirrorJob } from './activity/project-mails/mirror-jobs.ts'
import { checkBlobs } from './administration/blob-checks/jobs.ts'
import { collectUnusedBlobs, removeInterruptedUploads } from './administration/blob-collection/jobs.ts'
import { endOldChanges } from './administration/change-retention/jobs.ts'
import { endOldEvents } from './administration/event-retention/jobs.ts'
import { endOldRateCounters } from './administration/rate-counter-retention/jobs.ts'
import { addUpComments } from './discussion/comment-counts/jobs.ts'
import { noteablesInTexts } from './discussion/cross-references/jobs.ts'
import { mailHappeningJob } from './discussion/event-mails/jobs.ts'
import { forgetNameInNotes } from './discussion/notes/name-job.ts'
import {
  deliverNoteableMail,
  mailJobsOfPreviousRelease,
  mailNamedUsersJob,
  mailNoteJob,
  mailOpeningJob,
} from './discussion/subscriptions/jobs.ts'
import { removeMarkedGroups, resumeGroupRemovals } from './groups/groups/due-jobs.ts'
import { removeGroup } from './groups/groups/jobs.ts'
import { acceptInvitationsLater, purgeEndedInvitations } from './groups/invitations/jobs.ts'
import { purgeExpiredMembers } from './groups/members/jobs.ts'
import { deliverMemberMail } from './groups/members/mail-jobs.ts'
import { mailEndingResourceTokens } from './groups/resource-tokens/ending.ts'
import { removeIdleBots } from './groups/resource-tokens/jobs.ts'
import { purgeEndedShares } from './groups/shares/jobs.ts'
import { removeUser, resumeUserRemovals } from './groups/user-removal/jobs.ts'
import { purgeIdempotencyKeys } from './instance/idempotency-keys/jobs.ts'
import { deliverMail, purgeStaleMails } from './instance/mails/jobs.ts'
import { endOldHookEvents } from './integrations/deliveries/jobs.ts'
import { copySource } from './lifecycle/forks/jobs.ts'
import { failStuckImports, importFromUrl } from './lifecycle/imports/jobs.ts'
import { copyTemplate } from './lifecycle/project-creation/jobs.ts'
import { schedulePullMirrors, updatePullMirror } from './lifecycle/pull-mirrors/jobs.ts'
import { pushToMirror, retryPushMirrors, startPushMirrors } from './lifecycle/push-mirrors/jobs.ts'
import { addUpAudiences } from './namespaces/audience-counts/jobs.ts'
import { mailDueIssues } from './planning/due-mails/jobs.ts'
import { copyDueDateOfMilestone, copyPrioritiesOfLabel } from './planning/order-copies/jobs.ts'
import { exportArchive, removeOldArchives } from './portability/exports/jobs.ts'
import { importFromForge, removeForgeLeftovers } from './portability/forges/jobs.ts'
import { endStuckArchiveImports, importGroupArchive } from './portability/imports/group-jobs.ts'
import { importArchive } from './portability/imports/jobs.ts'
import { restoreAudiences } from './projects/audiences/jobs.ts'
import { refreshLanguages } from './projects/languages/jobs.ts'
import {
  removeHeldRepository,
  removeMarkedProjects,
  removeProject,
  resumeProjectRemovals,
} from './projects/projects/jobs.ts'
import { removeRepositoryLeftovers } from './projects/repositories/jobs.ts'
import { checkDueRepositories, checkRepository } from './projects/repository-checks/jobs.ts'
import { refreshSketches } from './projects/sketches/jobs.ts'
import { housekeepRepository } from './pushes/housekeeping/jobs.ts'
import { housekeepSideRepository, refreshSideRepository } from './pushes/housekeeping/side-jobs.ts'
import { housekeepAfterPushes, refreshRepository } from './pushes/pushes/jobs.ts'
import { settleCutOffPushes } from './pushes/pushes/recovery.ts'
import {
  checkDueSideRepositories,
  checkSideRepository,
  removeSideRepositories,
} from './pushes/side-repositories/jobs.ts'
import { refreshRegistrySize } from './registry/blobs/jobs.ts'
import { cleanUpProject, startContainerCleanups } from './registry/cleanup/jobs.ts'
import { collectContainerImages } from './registry/collection/jobs.ts'
import { deleteContainerRepository } from './registry/images/jobs.ts'
import { deleteTagsInBulk } from './registry/tags/jobs.ts'
import { tidyContainerUploads } from './registry/uploads/jobs.ts'
import { deleteMergedBranches } from './repository/branches/jobs.ts'
import { commitsInTexts } from './repository/commit-references/jobs.ts'
import { endReleaseOfDeletedTag } from './repository/releases/jobs.ts'
import { judgeSignatures } from './repository/signatures/jobs.ts'
import { closeIssuesOfMerged, findClosingIssues } from './review/closing/jobs.ts'
import { referToNamedByCommits } from './review/cross-references/jobs.ts'
import { dropMergeRequestRefs } from './review/merge-requests/drop-refs-job.ts'
import { mergeAwaited, retryAwaited } from './review/merging/awaited-job.ts'
import { checkMergeability } from './review/merging/check.ts'
import { closeOrphaned } from './review/merging/orphaned.ts'
import { endFailedRebases, rebaseSource } from './review/merging/rebase.ts'
import { removeMergedBranch } from './review/merging/remove-branch.ts'
import { settleCutOffMerges } from './review/merging/settle.ts'
import { closeUnlinked } from './review/merging/unlinked.ts'
import { updateMergeRequest, updateMergeRequests } from './review/merging/update-job.ts'
import { applyPushOptions } from './review/push-options/jobs.ts'
import { settleCutOffSuggestions } from './review/suggestion-commits/settle.ts'
import { refreshSnippetJob, removeIncompleteSnippets } from './text/snippets/refresh.ts'

/** Everything that happens later. */
export const jobs: readonly Job<any>[] = [
  acceptInvitationsLater,
  endOldChanges,
  endOldEvents,
  endOldRateCounters,
  endOldHookEvents,
  checkBlobs,
  collectUnusedBlobs,
  removeInterruptedUploads,
  cleanUpProject,
  startContainerCleanups,
  collectContainerImages,
  refreshRegistrySize,
  deleteContainerRepository,
  deleteTagsInBulk,
  tidyContainerUploads,
  exportArchive,
  importArchive,
  importFromForge,
  removeForgeLeftovers,
  importGroupArchive,
  endStuckArchiveImports,
  removeOldArchives,
  copySource,
  copyTemplate,
  deleteMergedBranches,
  deliverMail,
  deliverMemberMail,
  deliverNoteableMail,
  failStuckImports,
  housekeepRepository,
  checkRepository,
  checkDueRepositories,
  removeRepositoryLeftovers,
  importFromUrl,
  schedulePullMirrors,
  updatePullMirror,
  pushToMirror,
  retryPushMirrors,
  startPushMirrors,
  judgeSignatures,
  checkMergeability,
  closeOrphaned,
  closeUnlinked,
  closeIssuesOfMerged,
  findClosingIssues,
  commitsInTexts.ofDescription,
  commitsInTexts.ofNote,
  referToNamedByCommits,
  noteablesInTexts.ofDescription,
  noteablesInTexts.ofNote,
  forgetNameInNotes,
  applyPushOptions,
  mergeAwaited,
  retryAwaited,
  rebaseSource,
  endFailedRebases,
  removeMergedBranch,
  settleCutOffMerges,
  settleCutOffSuggestions,
  dropMergeRequestRefs,
  updateMergeRequest,
  updateMergeRequests,
  purgeEndedInvitations,
  purgeEndedOauthTokens,
  purgeEndedShares,
  purgeExpiredLinks,
  purgeIdempotencyKeys,
  purgeExpiredMembers,
  purgeStaleMails,
  refreshLanguages,
  refreshSketches,
  refreshRepository,
  refreshSnippetJob,
  removeIncompleteSnippets,
  refreshSideRepository,
  housekeepSideRepository,
  checkDueSideRepositories,
  checkSideRepository,
  removeSideRepositories,
  housekeepAfterPushes,
  removeGroup,
  removeIdleBots,
  removeMarkedGroups,
  removeMarkedProjects,
  removeHeldRepository,
  removeProject,
  removeUser,
  resumeGroupRemovals,
  resumeUserRemovals,
  restoreAudiences,
  resumeProjectRemovals,
  settleCutOffPushes,
  copyDueDateOfMilestone,
  copyPrioritiesOfLabel,
  addUpAudiences,
  addUpComments,
  mailDueIssues,
  mailEndingTokens,
  mailEndingResourceTokens,
  endReleaseOfDeletedTag,
  mailNoteJob,
  ...mailJobsOfPreviousRelease,
  mailHappeningJob,
  mailNamedUsersJob,
  mailOpeningJob,
  deliverProjectMail,
  mailReleaseJob,
  mailMoveJob,
  mailPipelineJob,
  mailMirrorJob,
]
