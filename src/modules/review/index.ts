export { recordLostApprovers } from './approval-rules/deleted-approvers.ts'
export { closeIssuesAfterMerge, findClosingIssuesLater } from './closing/jobs.ts'
export { findNamedByPush } from './cross-references/jobs.ts'
export { dropRefsOfDeleted } from './merge-requests/drop-refs-job.ts'
export { MergeRequest } from './merge-requests/entity.ts'
export { followMilestones, replaceLeftMilestones } from './merge-requests/milestones.ts'
export { asNoteable } from './merge-requests/noteable.ts'
export { findRecords, type MergeRequestRecordRow } from './merge-requests/record-queries.ts'
export { type MergeRequestSubject, mergeRequest } from './merge-requests/subject.ts'
export { isDraft } from './merge-requests/title.ts'
export type { Version } from './merge-requests/version-queries.ts'
export { patchesOf, versionBetween } from './merge-requests/versions.ts'
export { endAutoMergesOfDeleted } from './merging/auto-merge.ts'
export {
  mergeIfPipelineSucceeded,
  mergeWhenApproved,
  mergeWhenDiscussionsAreResolved,
  mergeWhenPipelineSucceeds,
  mergeWhenProjectAllows,
  mergeWhenReady,
  mergeWhenRulesDemandLess,
  mergeWhenSettingsDemandLess,
} from './merging/awaited-job.ts'
export { notifyOfFailedPipeline } from './merging/failed-pipelines.ts'
export { closeMergeRequestsOfDeleted } from './merging/orphaned.ts'
export { recoverMerges } from './merging/settle.ts'
export { closeUnlinked } from './merging/unlinked.ts'
export {
  updateMergeRequestLater,
  updateMergeRequestsAfterFailedMerge,
  updateMergeRequestsAfterPush,
} from './merging/update-job.ts'
export { reviewOfGroups, reviewRelations } from './portable/queries.ts'
export { answerWithMergeRequests } from './push-options/answer.ts'
export { applyPushOptions } from './push-options/jobs.ts'
export { findMergeRequests } from './reading/list.ts'
