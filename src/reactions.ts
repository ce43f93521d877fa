import type { Reactions } from './events/reaction.ts'
import { queues } from './jobs/reaction.ts'
import { mailMove, mailPipeline, mailPullMirror, mailPushMirror, mailRelease } from './modules/activity/index.ts'
import {
  forgetNameAfterDeletion,
  mailEpicState,
  mailIssueState,
  mailMergeRequestState,
  mailNewEpic,
  mailNewIssue,
  mailNewMergeRequest,
  mailUpdatedEpic,
  mailUpdatedIssue,
  mailUpdatedMergeRequest,
  noteablesInTexts,
  textReactions,
} from './modules/discussion/index.ts'
import {
  acceptInvitationsLater,
  acceptInvitationsOfMoved,
  acceptInvitationsOfUnlocked,
  addFirstMember,
} from './modules/groups/index.ts'
import { alsoForHooks } from './modules/integrations/index.ts'
import {
  disablePushMirrorsOfDeleted,
  startMirrorsAfterChange,
  stopPullMirrorsOfDeleted,
} from './modules/lifecycle/index.ts'
import {
  followMilestonesOfIssues,
  followMilestonesOfReleases,
  followMilestonesOnBoards,
  leaveGroupsOnBoards,
  leaveGroupsOnEpics,
  recordEpicState,
  recordIssueMilestone,
  recordIssueState,
  recordMergeRequestMilestone,
  recordMergeRequestState,
  replaceLeftMilestonesOfIssues,
  replaceLeftMilestonesOfReleases,
} from './modules/planning/index.ts'
import { followNamespace, refreshLanguages } from './modules/projects/index.ts'
import {
  type AnswerToPush,
  copyPushRule,
  recordEndedGrants,
  refreshRepository,
  refreshSideRepository,
} from './modules/pushes/index.ts'
import { commitsInTexts, distrustRevokedKey, judgeSignatures } from './modules/repository/index.ts'
import {
  answerWithMergeRequests,
  applyPushOptions,
  closeIssuesAfterMerge,
  closeMergeRequestsOfDeleted,
  closeUnlinked,
  dropRefsOfDeleted,
  endAutoMergesOfDeleted,
  findClosingIssuesLater,
  findNamedByPush,
  followMilestones,
  mergeIfPipelineSucceeded,
  mergeWhenApproved,
  mergeWhenDiscussionsAreResolved,
  mergeWhenPipelineSucceeds,
  mergeWhenProjectAllows,
  mergeWhenReady,
  mergeWhenRulesDemandLess,
  mergeWhenSettingsDemandLess,
  notifyOfFailedPipeline,
  recordLostApprovers,
  replaceLeftMilestones,
  updateMergeRequestLater,
  updateMergeRequestsAfterFailedMerge,
  updateMergeRequestsAfterPush,
} from './modules/review/index.ts'
import { deleteSnippetsOfDeleted, followWiki, refreshSnippetJob } from './modules/text/index.ts'

type OfUser = { readonly payload: { readonly user_id: number } }

const userOf = ({ payload }: OfUser) => ({ userId: payload.user_id })

/** For events whose payload tells whether an e-mail address was confirmed. */
const userWhen = (confirmed: boolean, event: OfUser) => (confirmed ? userOf(event) : undefined)

type OfProject = { readonly projectId: number }

const projectOf = ({ projectId }: OfProject) => ({ projectId })

const projectWhen = (affected: boolean, event: OfProject) => (affected ? projectOf(event) : undefined)

/** Pushes in quick succession share one refresh. */
const refreshAfterMs = 1000
/** Later, because computing languages reads a whole tree and is less urgent. */
const languagesAfterMs = 3000

/** Later than the process that received the push needs to apply them and to remove the job. */
const pushOptionsAfterMs = 2 * 60_000

/** For texts that may mention something. */
const texts = textReactions([noteablesInTexts, commitsInTexts])

/**
 * The reactions to each event, in its transaction or as an enqueued job. Only this file knows both sides: the module that emits
 * an event does not know its reactions.
 */
export const reactions: Reactions = alsoForHooks({
  approval_rule_created: [mergeWhenRulesDemandLess],
  approval_rule_deleted: [mergeWhenRulesDemandLess],
  approval_rule_updated: [mergeWhenRulesDemandLess],
  approval_settings_changed: [mergeWhenProjectAllows],
  discussion_resolved: [mergeWhenDiscussionsAreResolved],
  epic_closed: [recordEpicState('closed'), mailEpicState('closed')],
  epic_opened: [texts.byEpic, mailNewEpic],
  epic_reopened: [recordEpicState('reopened'), mailEpicState('reopened')],
  epic_updated: [texts.byEpic, mailUpdatedEpic],
  fork_unlinked: [
    queues(closeUnlinked, ({ projectId, actorId }) => (actorId === null ? undefined : { projectId, actorId })),
  ],
  gpg_key_added: [queues(judgeSignatures, userOf)],
  gpg_key_revoked: [distrustRevokedKey],
  group_deleted: [closeMergeRequestsOfDeleted, recordEndedGrants, recordLostApprovers],
  group_updated: [acceptInvitationsOfUnlocked],
  issue_closed: [recordIssueState('closed'), mailIssueState('closed')],
  issue_opened: [texts.byIssue, recordIssueMilestone, mailNewIssue],
  issue_reopened: [recordIssueState('reopened'), mailIssueState('reopened')],
  issue_updated: [texts.byIssue, recordIssueMilestone, mailUpdatedIssue],
  member_removed: [recordEndedGrants, recordLostApprovers],
  merge_request_approved: [mergeWhenApproved],
  merge_request_auto_merge_enabled: [mergeIfPipelineSucceeded],
  merge_request_closed: [recordMergeRequestState('closed'), mailMergeRequestState('closed')],
  merge_request_deleted: [dropRefsOfDeleted],
  merge_request_merge_failed: [updateMergeRequestsAfterFailedMerge],
  merge_request_merged: [recordMergeRequestState('merged'), closeIssuesAfterMerge, mailMergeRequestState('merged')],
  merge_request_opened: [
    texts.byMergeRequest,
    findClosingIssuesLater,
    updateMergeRequestLater,
    recordMergeRequestMilestone,
    mailNewMergeRequest,
  ],
  merge_request_reopened: [
    recordMergeRequestState('reopened'),
    findClosingIssuesLater,
    updateMergeRequestLater,
    mailMergeRequestState('reopened'),
  ],
  merge_request_updated: [
    texts.byMergeRequest,
    findClosingIssuesLater,
    updateMergeRequestLater,
    recordMergeRequestMilestone,
    mailUpdatedMergeRequest,
    mergeWhenReady,
  ],
  milestones_replaced: [
    followMilestones,
    followMilestonesOfIssues,
    followMilestonesOfReleases,
    followMilestonesOnBoards,
  ],
  namespace_renamed: [followNamespace],
  note_created: [texts.byNote],
  note_updated: [texts.byNote],
  note_deleted: [mergeWhenDiscussionsAreResolved],
  pipeline_changed: [mergeWhenPipelineSucceeds, notifyOfFailedPipeline, mailPipeline],
  project_created: [addFirstMember, copyPushRule],
  project_deleted: [closeMergeRequestsOfDeleted],
  project_imported: [startMirrorsAfterChange],
  project_renamed: [mailMove],
  project_transferred: [acceptInvitationsOfMoved, mailMove],
  project_unarchived: [mergeWhenProjectAllows],
  project_updated: [
    mergeWhenSettingsDemandLess,
    queues(
      refreshRepository,
      (event) => projectWhen(event.payload.changed.includes('default_branch'), event),
      refreshAfterMs,
    ),
    queues(
      refreshLanguages,
      (event) => projectWhen(event.payload.changed.includes('default_branch'), event),
      languagesAfterMs,
    ),
  ],
  projects_left_groups: [
    replaceLeftMilestones,
    replaceLeftMilestonesOfIssues,
    replaceLeftMilestonesOfReleases,
    leaveGroupsOnBoards,
    leaveGroupsOnEpics,
  ],
  pull_mirror_stopped: [mailPullMirror],
  push_mirror_stopped: [mailPushMirror],
  pushed: [
    updateMergeRequestsAfterPush,
    startMirrorsAfterChange,
    findNamedByPush,
    queues(
      applyPushOptions,
      ({ payload, facts }) => (facts.push_options.merge_request ? { pushId: payload.push_id } : undefined),
      pushOptionsAfterMs,
    ),
    queues(refreshRepository, projectOf, refreshAfterMs),
    queues(refreshLanguages, (event) => projectWhen(event.payload.default_branch_moved, event), languagesAfterMs),
  ],
  ref_protected: [mergeWhenProjectAllows],
  ref_protection_changed: [mergeWhenProjectAllows],
  ref_unprotected: [mergeWhenProjectAllows],
  release_created: [mailRelease],
  side_repository_changed: [
    queues(refreshSnippetJob, ({ actorId, facts }) =>
      facts.holder_kind === 'snippet' ? { snippetId: facts.holder_id, userId: actorId } : undefined,
    ),
    followWiki,
    queues(refreshSideRepository, ({ payload }) => ({ sideRepositoryId: payload.side_repository_id }), refreshAfterMs),
  ],
  snippet_created: [texts.bySnippet],
  snippet_updated: [texts.bySnippet],
  ssh_key_added: [queues(judgeSignatures, userOf)],
  user_deleted: [
    forgetNameAfterDeletion,
    closeMergeRequestsOfDeleted,
    endAutoMergesOfDeleted,
    stopPullMirrorsOfDeleted,
    disablePushMirrorsOfDeleted,
    deleteSnippetsOfDeleted,
    recordEndedGrants,
    recordLostApprovers,
  ],
  user_created: [queues(acceptInvitationsLater, (event) => userWhen(event.payload.confirmed, event))],
  user_email_added: [
    queues(acceptInvitationsLater, (event) => userWhen(event.payload.confirmed, event)),
    queues(judgeSignatures, (event) => userWhen(event.payload.confirmed, event)),
  ],
  user_email_confirmed: [queues(acceptInvitationsLater, userOf), queues(judgeSignatures, userOf)],
  user_email_removed: [queues(judgeSignatures, userOf)],
  user_password_changed: [
    queues(acceptInvitationsLater, (event) => userWhen(event.payload.email_confirmed, event)),
    queues(judgeSignatures, (event) => userWhen(event.payload.email_confirmed, event)),
  ],
  user_updated: [
    queues(acceptInvitationsLater, (event) => userWhen(event.payload.email_confirmed, event)),
    queues(judgeSignatures, (event) => userWhen(event.payload.email_confirmed, event)),
  ],
})

/** The sources of the lines that clients print after a push, in this order. */
export const answersToPush: readonly AnswerToPush[] = [answerWithMergeRequests]
