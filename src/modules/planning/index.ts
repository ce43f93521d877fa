export { followMilestonesOnBoards, leaveGroupsOnBoards } from './boards/follow-queries.ts'
export { type AttributeChanges, changesOf } from './changes/attributes.ts'
export { changeNotes, peopleNote, titleNote } from './changes/notes.ts'
export { peopleAfter } from './changes/people.ts'
export { recordEdit } from './changes/record.ts'
export { leaveGroupsOnEpics } from './epic-links/leave-queries.ts'
export { Epic } from './epics/entity.ts'
export { asNoteable as epicAsNoteable } from './epics/noteable.ts'
export { type EpicRecordRow, findEpicRecords } from './epics/record-queries.ts'
export { epic } from './epics/subject.ts'
export { countAssigned } from './filters/assigned-queries.ts'
export type { NoteableFilters, NoteablePlace, NoteableSet, UserFilter } from './filters/filters.ts'
export {
  exclusiveUsers,
  given,
  idOrPresence,
  noteableFiltersOf,
  noteableParams,
  numbers,
  presences,
  searchedFields,
  viewParams,
} from './filters/params.ts'
export { placeOfGroup, placeOfProject, withinOf } from './filters/places.ts'
export {
  byUsers,
  filtered,
  havingUsers,
  leavesFew,
  lookedUp,
  type Narrowing,
  namesFew,
  narrowing,
} from './filters/queries.ts'
export { reach } from './filters/reach-queries.ts'
export { findIssues } from './issue-lists/list.ts'
export { UserAgentDetail } from './issues/agent-entity.ts'
export { type AgentRow, agentRow } from './issues/agent-queries.ts'
export { agentOf } from './issues/agents.ts'
export { closeIssue } from './issues/close.ts'
export { closesIssues, closesWhenMerged, closingReadable } from './issues/closing-queries.ts'
export { Issue } from './issues/entity.ts'
export type { FindFollowUp } from './issues/follow-up.ts'
export { asNoteable as issueAsNoteable } from './issues/noteable.ts'
export { findIssueRecords, type IssueRecordRow, issueRecordRow, issueSelect } from './issues/record-queries.ts'
export { type IssueSubject, issue, loadIssue } from './issues/subject.ts'
export { labelEventRoutesOf } from './label-events/routes.ts'
export { editLabels, type LabelEdit, setLabels } from './labels/assign.ts'
export { ShownLabelsSchema, shownLabels } from './labels/entity.ts'
export { copyLeftLabels, replaceLeftLabels } from './labels/move-queries.ts'
export { type AssignedLabelRow, type LabelReferenceRow, labelsJson } from './labels/queries.ts'
export { titleViolations as labelTitleViolations } from './labels/titles.ts'
export { recordIssueMilestone, recordMergeRequestMilestone } from './milestone-events/queries.ts'
export { milestoneEventRoutesOf } from './milestone-events/routes.ts'
export { Milestone, MilestoneSchema, milestoneRecord } from './milestones/entity.ts'
export {
  copyLeftMilestones,
  followMilestonesOfIssues,
  lockWithLeft,
  milestoneReactionsOf,
  replaceLeftMilestonesOfIssues,
} from './milestones/move-queries.ts'
export {
  datedMilestoneRow,
  findMilestoneByTitle,
  type MilestoneRow,
  milestoneJson,
  milestonesWith,
} from './milestones/queries.ts'
export { getMilestone, usableMilestone } from './milestones/service.ts'
export { followPriorities } from './order-copies/jobs.ts'
export { planningOfGroups } from './portable/group-queries.ts'
export { planningOfMergeRequests, planningRelations, releaseMilestoneRelation } from './portable/queries.ts'
export { assigneesNamed, usersNamed } from './quick-actions/assignees.ts'
export {
  type Command,
  commandSet,
  type Right,
  type ScheduledCommanded,
  type SharedEdit,
} from './quick-actions/command.ts'
export { withoutQuickActions } from './quick-actions/description.ts'
export { removeFromList, replaceList } from './quick-actions/lists.ts'
export { type ActingProject, lockNamedMilestones } from './quick-actions/milestone-locks.ts'
export { sharedCommands } from './quick-actions/shared.ts'
export { followMilestonesOfReleases, replaceLeftMilestonesOfReleases } from './release-milestones/move-queries.ts'
export { type RenderedTexts, render_html, renderedFields, renderedOf, renderTexts } from './rendered-texts/rendered.ts'
export { recordEpicState, recordIssueState, recordMergeRequestState } from './state-events/queries.ts'
export { stateEventRoutesOf } from './state-events/routes.ts'
