export { withAudiencesLowered } from './audiences/ahead.ts'
export { adoptInstallation, markInstallation, pairInstallation, refuseOther, requirePair } from './installation/pair.ts'
export { findInstallationId, saveInstallationId } from './installation/queries.ts'
export { refreshLanguages } from './languages/jobs.ts'
export { nextGroupNumber, nextNumber, nextNumbers, reachGroupNumbers, reachNumber } from './numbers/queries.ts'
export { findPortableProject, type PortableProject } from './portable/project-queries.ts'
export { uploadRelation } from './portable/queries.ts'
export { replaceProject } from './portable/replacement.ts'
export { fillProject } from './portable/restore.ts'
export {
  countLinkedFiles,
  type RepositoryFacts,
  recordActivity,
  recordPush,
  saveLargeFilesSize,
  saveRegistrySize,
  saveRepositoryFacts,
  saveSnippetsSize,
  saveWikiSize,
} from './projects/activity-queries.ts'
export { ProjectSimple, projectReferenceFields } from './projects/basic-entity.ts'
export { cachedProjects, cachedSimpleProjects } from './projects/cached.ts'
export { type CleanupPolicy, cleanupDefaults } from './projects/cleanup-policy.ts'
export { editProject, movedConcurrently } from './projects/edit.ts'
export { lockProject, lockProjectKey, lockState, takenNames } from './projects/edit-queries.ts'
export { Project } from './projects/entity.ts'
export { type FeatureColumn, featureColumns } from './projects/features.ts'
export { becomeFork, linkFork, unlinkFork } from './projects/fork-queries.ts'
export { importFailed, importFinished, importScheduled, importStarted } from './projects/import-queries.ts'
export { removeProject } from './projects/jobs.ts'
export { licenseOf } from './projects/licenses.ts'
export { projectsOfUser, projectsPage } from './projects/list.ts'
export { listProjects, type ProjectSet } from './projects/list-queries.ts'
export { lockToChange } from './projects/lock-to-change.ts'
export { emitLowered, loweredPayload } from './projects/lowered.ts'
export { mirrorsWithoutUser, mirrorUpdated, saveMirror } from './projects/mirror-queries.ts'
export {
  followNamespace,
  limitProjectVisibility,
  lockToHide,
  markProjectsDeleting,
  moveProject,
} from './projects/move-queries.ts'
export { projectOnBehalf } from './projects/on-behalf.ts'
export { projectFilters, projectIds, projectListFilters, writeParams } from './projects/params.ts'
export { requireCreatable, requireRoom } from './projects/place.ts'
export {
  columns,
  findProject,
  findProjects,
  levelOf,
  limitsColumn,
  memberAtLeast,
  membersOf,
  openVisibility,
  type ProjectRow,
  projectOf,
  projectRow,
  readableCode,
  readableFeature,
  readableMergeRequests,
  readableWiki,
  visibleProjects,
  withinLimits,
} from './projects/queries.ts'
export type { ProjectRecordRow, ProjectStatistics } from './projects/record-queries.ts'
export { noRootFiles, type RootFiles, rootFilesAt } from './projects/root-files.ts'
export {
  createProject,
  forkVisibilityViolations,
  getRecord,
  type ProjectInput,
  requireUnprotected,
} from './projects/service.ts'
export { type ProjectSettings, settingDefaults } from './projects/settings.ts'
export { sharedWithGroups } from './projects/shared-groups.ts'
export { loadProject, type ProjectSubject, project, projectFacts } from './projects/subject.ts'
export { checkAll, checkRepositories } from './repositories/check.ts'
export {
  dueHousekeeping,
  housekeep,
  housekeepingDueIn,
  housekeepWhenDue,
  packRepository,
} from './repositories/housekeeping.ts'
export { claimHousekeeping } from './repositories/housekeeping-queries.ts'
export {
  diskPath,
  type Located,
  locatedRow,
  projectRepositoryDir,
  repositoryDir,
  storagesIn,
} from './repositories/location.ts'
export { observeLostAndFound } from './repositories/lost-metric.ts'
export { initialBranch, openForWriting, openRepository } from './repositories/open.ts'
export {
  type Housekeeping,
  type HousekeepingRow,
  housekeepingDone,
  housekeepingRow,
  saveWikiCheck,
} from './repositories/queries.ts'
export { setAside } from './repositories/set-aside.ts'
export { unknownStorages } from './repositories/storages.ts'
export { checkQueue, checkSchedule, isDamaged } from './repository-checks/jobs.ts'
export { refreshSketches } from './sketches/jobs.ts'
export { deleteStarsOf } from './stars/queries.ts'
export { findTopic } from './topics/queries.ts'
export { checkUploads } from './uploads/check.ts'
export { copyUploads } from './uploads/copy-queries.ts'
export { safeFilename } from './uploads/filename.ts'
export { shownMediaType } from './uploads/media.ts'
export { namedUploads } from './uploads/named.ts'
export { digestsOfUploads, findUpload } from './uploads/queries.ts'
