export { changeNotes, peopleNote } from './changes/notes.ts'
export { countAssigned } from './filters/assigned-queries.ts'
export type { NoteableFilters, NoteableSet, UserFilter } from './filters/filters.ts'
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
export { byUsers, filtered, leavesFew } from './filters/queries.ts'
export { reach } from './filters/reach-queries.ts'
export { findIssues } from './issue-lists/list.ts'
export { Issue, type IssueShown } from './issues/entity.ts'
export { asNoteable as issueAsNoteable } from './issues/noteable.ts'
export { findIssueRecords, type IssueRecordRow } from './issues/record-queries.ts'
export { type IssueSubject, issue, loadIssue } from './issues/subject.ts'
export { labelEventRoutesOf } from './label-events/routes.ts'
export { setLabels } from './labels/assign.ts'
export { ShownLabelsSchema, shownLabels } from './labels/entity.ts'
export { copyLeftLabels, replaceLeftLabels } from './labels/move-queries.ts'
export { type LabelReferenceRow, labelsJson } from './labels/queries.ts'
export { titleViolations as labelTitleViolations } from './labels/titles.ts'
export { Milestone, MilestoneSchema, milestoneRecord } from './milestones/entity.ts'
export { copyLeftMilestones, replacementsOf } from './milestones/move-queries.ts'
export {
  datedMilestoneRow,
  findMilestoneByTitle,
  findUsableMilestone,
  type MilestoneRow,
  milestoneJson,
  milestonesWith,
} from './milestones/queries.ts'
export { getMilestone } from './milestones/service.ts'
