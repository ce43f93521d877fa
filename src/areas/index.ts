import type { Endpoint } from '../api/endpoint.ts'
import type { Job } from '../jobs/job.ts'
import { archiveRoutes } from './archive/routes.ts'
import { archivingRoutes } from './archiving/routes.ts'
import { blameRoutes } from './blame/routes.ts'
import { collectUnusedBlobs } from './blob-collection/jobs.ts'
import { deleteMergedBranches } from './branches/jobs.ts'
import { branchRoutes } from './branches/routes.ts'
import { commitCommentRoutes } from './commit-comments/routes.ts'
import { jobRoutes } from './commit-statuses/job-routes.ts'
import { commitStatusRoutes } from './commit-statuses/routes.ts'
import { pickRoutes } from './commits/pick-routes.ts'
import { commitRoutes } from './commits/routes.ts'
import { commitWriteRoutes } from './commits/write-routes.ts'
import { compareRoutes } from './compare/routes.ts'
import { deployKeyRoutes } from './deploy-keys/routes.ts'
import { fileRoutes } from './files/routes.ts'
import { fileWriteRoutes } from './files/write-routes.ts'
import { removeMarkedGroups } from './groups/due-jobs.ts'
import { removeGroup } from './groups/jobs.ts'
import { groupRoutes } from './groups/routes.ts'
import { deliverMail, purgeStaleMails } from './mails/jobs.ts'
import { purgeExpiredMembers } from './members/jobs.ts'
import { groupMemberRoutes, projectMemberRoutes } from './members/routes.ts'
import { namespaceRoutes } from './namespaces/routes.ts'
import { pipelineRoutes } from './pipelines/routes.ts'
import { projectCreationRoutes } from './project-creation/routes.ts'
import { removeMarkedProjects, removeProject } from './projects/jobs.ts'
import { projectRoutes } from './projects/routes.ts'
import { protectedBranchRoutes } from './protected-branches/routes.ts'
import { protectedTagRoutes } from './protected-tags/routes.ts'
import { refreshRepository } from './pushes/jobs.ts'
import { settleCutOffPushes } from './pushes/recovery.ts'
import { shareRoutes } from './shares/routes.ts'
import { sshKeyRoutes } from './ssh-keys/routes.ts'
import { starRoutes } from './stars/routes.ts'
import { tagRoutes } from './tags/routes.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { transferRoutes } from './transfers/routes.ts'
import { treeRoutes } from './trees/routes.ts'
import { removeUser } from './user-removal/jobs.ts'
import { userRemovalRoutes } from './user-removal/routes.ts'
import { userStatusRoutes } from './user-statuses/routes.ts'
import { activityRoutes } from './users/activity-routes.ts'
import { emailRoutes } from './users/email-routes.ts'
import { purgeExpiredLinks } from './users/jobs.ts'
import { userRoutes } from './users/routes.ts'
import { stateRoutes } from './users/state-routes.ts'
import { versionRoutes } from './version/routes.ts'

/** Every endpoint of the product, by the folder of its area; the documentation is ordered so, too. */
export const areas: Readonly<Record<string, readonly Endpoint[]>> = {
  archive: archiveRoutes,
  archiving: archivingRoutes,
  blame: blameRoutes,
  branches: branchRoutes,
  'commit-comments': commitCommentRoutes,
  'commit-statuses': [...commitStatusRoutes, ...jobRoutes],
  commits: [...commitRoutes, ...commitWriteRoutes, ...pickRoutes],
  compare: compareRoutes,
  'deploy-keys': deployKeyRoutes,
  files: [...fileRoutes, ...fileWriteRoutes],
  groups: groupRoutes,
  members: [...groupMemberRoutes, ...projectMemberRoutes],
  namespaces: namespaceRoutes,
  pipelines: pipelineRoutes,
  'project-creation': projectCreationRoutes,
  projects: projectRoutes,
  'protected-branches': protectedBranchRoutes,
  'protected-tags': protectedTagRoutes,
  shares: shareRoutes,
  'ssh-keys': sshKeyRoutes,
  stars: starRoutes,
  tags: tagRoutes,
  tokens: tokenRoutes,
  transfers: transferRoutes,
  trees: treeRoutes,
  'user-removal': userRemovalRoutes,
  'user-statuses': userStatusRoutes,
  users: [...userRoutes, ...stateRoutes, ...emailRoutes, ...activityRoutes],
  version: versionRoutes,
}

export const endpoints: readonly Endpoint[] = Object.values(areas).flat()

/** Everything that happens later. */
export const jobs: readonly Job<any>[] = [
  collectUnusedBlobs,
  deleteMergedBranches,
  deliverMail,
  purgeExpiredLinks,
  purgeExpiredMembers,
  purgeStaleMails,
  refreshRepository,
  removeGroup,
  removeMarkedGroups,
  removeMarkedProjects,
  removeProject,
  removeUser,
  settleCutOffPushes,
]
