export { canMergeInto } from './branch-access/can-merge.ts'
export { canPushToBranch } from './branch-access/can-push.ts'
export { collaborationBranches, mayPushToBranch } from './branch-access/collaboration.ts'
export { refreshSideRepository } from './housekeeping/side-jobs.ts'
export { type Access as LfsAccess, lfsAccess, lfsAccessStill } from './large-files/access.ts'
export { type Asked, answerBatch } from './large-files/batch.ts'
export { checkLargeFiles } from './large-files/check.ts'
export {
  type Grant,
  isForNew,
  largeFileCredentials,
  type Operation,
  readCredential,
} from './large-files/credentials.ts'
export type { LockRow } from './large-files/lock-queries.ts'
export { type LockPage, lockFile, lockPage, unlockFile } from './large-files/lock-service.ts'
export { deleteSigningKeys, digestsOfLargeFiles, filesAmong, linkAllFrom, linkFrom } from './large-files/queries.ts'
export { addFiles, requireSize, sizesOf, storeBytes, storeFile } from './large-files/service.ts'
export { sizeViolation } from './large-files/size-limit.ts'
export { openStorage, type Storage } from './large-files/storage.ts'
export { largeFilesRelation, pushesOfGroups, pushesRelations } from './portable/queries.ts'
export { ProtectedBranch } from './protected-branches/entity.ts'
export { protectOneBranch, unprotectOneBranch } from './protected-branches/service.ts'
export { protectFirstBranch } from './protected-refs/default-branch.ts'
export { recordEndedGrants } from './protected-refs/deleted-grantees.ts'
export { accessLevels } from './protected-refs/levels.ts'
export { loadProtected, loadProtections } from './protected-refs/protections.ts'
export { findProtectedRefs, type ProtectedRefRow } from './protected-refs/queries.ts'
export {
  type AnswerToPush,
  type CompletedPush,
  collectAnswers,
  linesOf,
  type PushAnswer,
} from './push-options/answer.ts'
export {
  type ParsedPushOptions,
  type PushOptions,
  parsePushOptions,
  type Repeated,
  shown,
  withoutMergeRequests,
} from './push-options/parse.ts'
export { linesOfOffence } from './push-rules/offence.ts'
export { copyPushRule } from './push-rules/service.ts'
export { decide, refusedPush } from './pushes/decide.ts'
export { commitReadme } from './pushes/first-commit.ts'
export { ifReadable } from './pushes/if-readable.ts'
export { refreshRepository } from './pushes/jobs.ts'
export {
  completePush,
  discardChanges,
  discardPush,
  LateRefusal,
  recordIntent,
  requireBranchStays,
  settle,
} from './pushes/journal.ts'
export { changesRef, movePushedRefs } from './pushes/move-pushed-refs.ts'
export { moveRefs } from './pushes/move-refs.ts'
export { findDonePush, type NewPush, type PushTarget } from './pushes/queries.ts'
export { recoverPushes, releaseLocks } from './pushes/recovery.ts'
export { repositoryFacts } from './pushes/repository-facts.ts'
export { decideSide } from './pushes/side-decide.ts'
export { inTurn, retryWhileStale } from './pushes/writers.ts'
export { commitToSideRepository, mainRefOf, type SideEdit } from './side-commits/commit.ts'
export { checkSideRepositories } from './side-repositories/check.ts'
export {
  /** @public */
  removeSideRepositories,
} from './side-repositories/jobs.ts'
export type { SideKind, SideSubject } from './side-repositories/kind.ts'
export { openNothing, openSideForWriting, openSideRepository } from './side-repositories/open.ts'
export {
  createSideRepository,
  findSideRepository,
  findSideRepositoryById,
  holdRepository,
  insertUnheld,
  type SideHolder,
  type SideKindName,
  type SideRepository,
} from './side-repositories/queries.ts'
