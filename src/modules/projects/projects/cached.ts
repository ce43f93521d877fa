import { cachedRecords } from '../../../api/cached-records.ts'
import type { CacheableEntity } from '../../../api/record-view.ts'
import { ProjectPublic, ProjectSimple } from './basic-entity.ts'
import { Project } from './entity.ts'
import {
  completeStamps,
  listProjectRecords,
  type ProjectRecordRow,
  type ProjectStamp,
  type RecordOptions,
} from './record-queries.ts'

/** The records of `entity` as cached texts. With `inheritedMembership` a group's level counts for all below it. */
const cached = (e: CacheableEntity<ProjectRecordRow>, options: RecordOptions = {}) => {
  const showsShares = 'shared_with_groups' in e.schema.properties
  return cachedRecords<ProjectStamp, ProjectRecordRow>({
    entity: e,
    stamp: ({ stamp, seen_shares }) => `${stamp} ${showsShares ? (seen_shares ?? '') : ''}`,
    ...(showsShares && { complete: (stamps, ctx) => completeStamps(ctx.db, ctx.actor, stamps) }),
    load: (ids, ctx) => listProjectRecords(ctx.db, ctx.actor, ids, options),
  })
}

export const cachedProjects = cached(Project)
export const cachedSimpleProjects = cached(ProjectSimple)
export const cachedProject = cached(Project, { inheritedMembership: true })
export const cachedPublicProject = cached(ProjectPublic)
