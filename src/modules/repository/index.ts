export { DiffEntry } from './commits/diff-entity.ts'
export { diffLimits } from './commits/diff-limits.ts'
export { Commit, CommitDetail, type CommitDetailRow, type CommitRow } from './commits/entity.ts'
export { findForkRelation } from './commits/queries.ts'
export { defaultRef, findCommitId, getCommit } from './commits/revision.ts'
export { newDiscussionId } from './discussions/discussion-id.ts'
export { discussionId, lineParams, noteBody } from './discussions/params.ts'
export {
  type Ends,
  findLine,
  findPoint,
  type Position,
  type WantedLine,
  type WantedPoint,
} from './discussions/position.ts'
export { refuseNote, requireText } from './discussions/text.ts'
export { judgeSignatures } from './signatures/jobs.ts'
