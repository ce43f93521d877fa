import type { Relation } from '../../../db/portable/relation.ts'
import { environmentRelations, pipelineRelation } from '../../ci/index.ts'
import { discussionRelations } from '../../discussion/index.ts'
import { groupHoldings, groupMembers, projectHoldings } from '../../groups/index.ts'
import { hookRelation } from '../../integrations/index.ts'
import {
  planningOfGroups,
  planningOfMergeRequests,
  planningRelations,
  releaseMilestoneRelation,
} from '../../planning/index.ts'
import { uploadRelation } from '../../projects/index.ts'
import { largeFilesRelation, pushesOfGroups, pushesRelations } from '../../pushes/index.ts'
import { imageRelations } from '../../registry/index.ts'
import { commentedCommitRelation, repositoryRelations } from '../../repository/index.ts'
import { reviewOfGroups, reviewRelations } from '../../review/index.ts'
import { snippetRelation } from '../../text/index.ts'

/** What an archive has of a project. A relation comes after those that it refers to. */
export const projectRelations: readonly Relation[] = [
  uploadRelation,
  largeFilesRelation,
  ...pushesRelations,
  ...planningRelations,
  snippetRelation,
  ...reviewRelations,
  ...planningOfMergeRequests,
  commentedCommitRelation,
  ...discussionRelations(['Issue', 'MergeRequest', 'Snippet', 'Commit']),
  pipelineRelation,
  ...repositoryRelations,
  releaseMilestoneRelation,
  ...environmentRelations,
  ...projectHoldings,
  hookRelation,
  ...imageRelations,
]

/** What an archive has of a group and all groups below it. */
export const groupRelations: readonly Relation[] = [
  ...pushesOfGroups,
  ...planningOfGroups,
  ...reviewOfGroups,
  ...discussionRelations(['Epic']),
  ...groupHoldings,
  groupMembers,
]

/** The merge requests of a project. */
export const mergeRequestRelation: Relation = projectRelations.find(({ name }) => name === 'merge_requests')!
