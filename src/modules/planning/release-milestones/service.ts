import { allows, hasFeature } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { invalid } from '../../../kernel/failure.ts'
import { holdPlace } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { MilestonesOfReleases } from '../../repository/index.ts'
import { ReleaseMilestoneSchema, releaseMilestoneRecord } from './entity.ts'
import { lockMilestonesByTitle, milestonesOfReleases, replaceMilestones } from './queries.ts'

/** Milestones belong to issues and merge requests: who may see neither learns nothing of them. */
const readsMilestones = ({ actor }: Ctx, { facts }: ProjectSubject): boolean =>
  allows(projectPolicy.read_milestone, actor, facts) &&
  (hasFeature('issues', actor, facts) || hasFeature('merge_requests', actor, facts))

/**
 * The ids of the milestones with these titles; until the transaction ends, the project stays below their groups. Throws `invalid` if there
 * is none with a title.
 */
async function idsOf(ctx: Ctx, tx: Tx, project: ProjectSubject, titles: readonly string[]): Promise<number[]> {
  const wanted = [...new Set(titles)]
  const found = new Map<string, number>()
  if (wanted.length > 0 && readsMilestones(ctx, project)) {
    await holdPlace(tx, { of: 'project', id: project.id })
    for (const { id, title } of await lockMilestonesByTitle(tx, project.id, wanted))
      if (!found.has(title)) found.set(title, id)
  }
  const missing = wanted.filter((title) => !found.has(title))
  if (missing.length > 0) throw invalid(`Milestone(s) not found: ${missing.join(', ')}`)
  return [...found.values()]
}

/** The milestones of releases: of the project itself, and of the groups above it. */
export const releaseMilestones: MilestonesOfReleases = {
  schema: ReleaseMilestoneSchema,

  async recordsOf(ctx, project, releaseIds) {
    if (!readsMilestones(ctx, project)) return new Map()
    const records = new Map<number, object[]>()
    for (const row of await milestonesOfReleases(ctx.db, ctx.actor, releaseIds)) {
      const ofRelease = records.get(row.release_id) ?? []
      records.set(row.release_id, ofRelease)
      ofRelease.push(releaseMilestoneRecord(row, ctx))
    }
    return records
  },

  async require(ctx, project, titles) {
    await ctx.transaction((tx) => idsOf(ctx, tx, project, titles))
  },

  async assign(ctx, tx, project, releaseId, titles) {
    return replaceMilestones(tx, releaseId, await idsOf(ctx, tx, project, titles))
  },
}
