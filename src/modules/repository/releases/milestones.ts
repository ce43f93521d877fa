import type { TSchema } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { ProjectSubject } from '../../projects/index.ts'

/** What releases need of milestones, which belong to a later module. */
export type MilestonesOfReleases = {
  /** Of the record of a milestone. */
  readonly schema: TSchema
  /** Records of the milestones that the caller may read, by the ids of releases of a project; absent for a release without them. */
  readonly recordsOf: (
    ctx: Ctx,
    project: ProjectSubject,
    releaseIds: readonly number[],
  ) => Promise<ReadonlyMap<number, readonly object[]>>
  /** Throws `invalid` if there is no milestone with one of these titles. */
  readonly require: (ctx: Ctx, project: ProjectSubject, titles: readonly string[]) => Promise<void>
  /** Gives a release the milestones with these titles, and no others; false if it has them. Throws `invalid` if there is none with a title. */
  readonly assign: (
    ctx: Ctx,
    tx: Tx,
    project: ProjectSubject,
    releaseId: number,
    titles: readonly string[],
  ) => Promise<boolean>
}
