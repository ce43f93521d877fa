export { readersAmong, readersByName, replaceAssigned, usernamesOf } from './assignees/queries.ts'
export { assignableAmong, assignment, hasSingleAssignees, replacementAmong } from './assignees/service.ts'
export { joinVotes } from './award-emoji/queries.ts'
export { awardEmojiRoutesOf } from './award-emoji/routes.ts'
export { toggleAward } from './award-emoji/service.ts'
export { copyDiscussion } from './copies/service.ts'
export { addNotesOnBothSides } from './cross-references/both-sides.ts'
export { closingReferences } from './cross-references/closing-pattern.ts'
export { noteablesInTexts, textReactions, textReader } from './cross-references/jobs.ts'
export {
  addCrossReferences,
  commitAsSource,
  type Mentioning,
  type NamedRow,
  readableNamed,
  type Source,
  sourceName,
  type TextPlace,
} from './cross-references/service.ts'
export {
  mailEpicState,
  mailIssueState,
  mailMergeRequestState,
  mailUpdatedEpic,
  mailUpdatedIssue,
  mailUpdatedMergeRequest,
} from './event-mails/reactions.ts'
export { holderPath, isHeld, joinHolder, visibleHolder, withPlaceOf } from './noteables/holder-queries.ts'
export {
  featureOf,
  groupTypes,
  isTodoType,
  kindOf,
  lowestReader,
  type NoteableType,
  numberedOfProjects,
  numberedTypes,
  type PlannedType,
  plannedTypes,
  projectTypes,
  type ScheduledType,
  scheduledTypes,
  type TodoType,
  todoTypes,
} from './noteables/kinds.ts'
export {
  type Discussed,
  type DiscussedSubject,
  discussedSubject,
  type FileAt,
  type Noteable,
  noteableAs,
  type PlannedNoteable,
  type Tracked,
  withArticle,
} from './noteables/noteable.ts'
export {
  aboutColumns,
  assigneesTableOf,
  byUpdateOf,
  columnOf,
  isAbout,
  isAboutKind,
  isMemberFrom,
  labelsTableOf,
  mayRead,
  notHidden,
  numberOf,
  readableAbout,
  readableById,
  readableKind,
  readableRow,
  readersOf,
  tableOf,
  updatesTableOf,
} from './noteables/queries.ts'
export { groupOfText, noteableUrl, ReferencesSchema, references, type Within } from './noteables/reference.ts'
export { countTasks, TaskCompletionSchema } from './noteables/tasks.ts'
export { cleanTitle, textViolations } from './noteables/texts.ts'
export { insertCrossReference } from './notes/cross-reference-queries.ts'
export { newDiscussionId } from './notes/discussion-id.ts'
export { discussionRoutesOf } from './notes/discussion-routes.ts'
export { resolveHeld } from './notes/discussion-service.ts'
export { Note, noteTypeOf } from './notes/entity.ts'
export { noteMentions } from './notes/mentions.ts'
export { forgetNameAfterDeletion } from './notes/name-job.ts'
export { fetchFoundNotes } from './notes/pages.ts'
export { internalFlags } from './notes/params.ts'
export { hasUnresolved, unresolvedPositions, unresolvedSql } from './notes/queries.ts'
export { type NoteRow, visibleNote } from './notes/record-queries.ts'
export {
  escaped,
  maxReferences,
  type NamedNoteable,
  namedNoteables,
  prose,
  qualifyReferences,
  qualifyUploads,
} from './notes/references.ts'
export { noteRoutesOf } from './notes/routes.ts'
export { notesById, notesWith, type SearchedNotes } from './notes/search-queries.ts'
export { addNote, addSystemNote } from './notes/service.ts'
export { longestText, refuseNote } from './notes/text.ts'
export { discussionRelations, plainName } from './portable/queries.ts'
export { type ChangedLine, linesOf } from './positions/diff-lines.ts'
export {
  type Ends,
  findLine,
  findPoint,
  isPosition,
  type NotePlace,
  type TextPosition,
  type WantedLine,
  type WantedPlace,
} from './positions/position.ts'
export { type ActionsInTransaction, type Applied, type QuickActions, saveWithActions } from './quick-actions/apply.ts'
export { parseQuickActions, type QuickAction } from './quick-actions/parse.ts'
export { mailNewEpic, mailNewIssue, mailNewMergeRequest, sendNoteableMails } from './subscriptions/jobs.ts'
export { eventMail } from './subscriptions/mails.ts'
export { findSubscribed, saveSubscription, subscribedSql } from './subscriptions/queries.ts'
export { recipientsOfEvent } from './subscriptions/recipient-queries.ts'
export { participantRoutesOf, subscriptionRoutesOf } from './subscriptions/routes.ts'
export { Suggestion } from './suggestions/entity.ts'
export { linesIn } from './suggestions/lines.ts'
export {
  type AppliedSuggestion,
  type Follow,
  findSuggestions,
  openSuggestions,
  saveApplied,
  saveFollowed,
  suggestionRecords,
} from './suggestions/queries.ts'
export { shiftBy } from './suggestions/service.ts'
export { formatDuration, parseDuration } from './time-tracking/duration.ts'
export { TimeStatsSchema, timeStats } from './time-tracking/entity.ts'
export { timeSpentSql } from './time-tracking/queries.ts'
export { timeTrackingRoutesOf } from './time-tracking/routes.ts'
export { addSpent, resetEstimate, resetSpent, setEstimate } from './time-tracking/service.ts'
export {
  finishAllTodos,
  finishTodo,
  insertTodos,
  keepNoteable,
  type NewTodo,
  type TodoAction,
  todoActions,
} from './todos/queries.ts'
export { addTodos, finishTodos } from './todos/service.ts'
