import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { repositorySize } from '../../../git/transfer/maintenance.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { dueHousekeeping, packRepository, saveWikiSize } from '../../projects/index.ts'
import { packingLimits } from '../pushes/jobs.ts'
import { packManyRefs } from '../pushes/loose-refs.ts'
import { openSideRepository } from '../side-repositories/open.ts'
import {
  findSideHousekeeping,
  findSideRepositoryById,
  type SideRepository,
  saveSideHousekeeping,
  saveSideSize,
} from '../side-repositories/queries.ts'

const input = Type.Object({ sideRepositoryId: Type.Integer() })
type Input = { readonly sideRepositoryId: number }

/** The jobs of a repository run one at a time: both pack refs. */
const alone = ({ sideRepositoryId }: Input) => `side_repository:${sideRepositoryId}`

/** Packs the repository of a wiki or snippet, and measures it. */
export const housekeepSideRepository = job({
  name: 'housekeep_side_repository',
  slow: true,
  input,
  key: ({ sideRepositoryId }) => `housekeep_side_repository:${sideRepositoryId}`,
  alone,
  limits: packingLimits,
  throttled: true,
  attempts: 5,
  async run({ sideRepositoryId }, ctx) {
    const found = await find(ctx, sideRepositoryId)
    const due = await dueFor(ctx, sideRepositoryId)
    if (!found || !due) return
    const done = await packRepository(ctx, found.repo, due.kind)
    await saveSideHousekeeping(ctx.db, sideRepositoryId, done, due.pushes)
    await measure(ctx, found)
  },
})

/** Runs after pushes (src/reactions.ts): measures the repository, and plans to pack it when enough pushes have accumulated. */
export const refreshSideRepository = job({
  name: 'refresh_side_repository',
  input,
  key: ({ sideRepositoryId }) => `refresh_side_repository:${sideRepositoryId}`,
  alone,
  throttled: true,
  attempts: 6,
  async run({ sideRepositoryId }, ctx) {
    const found = await find(ctx, sideRepositoryId)
    if (!found) return
    await packManyRefs(found.repo)
    await measure(ctx, found)
    if (await dueFor(ctx, sideRepositoryId))
      await ctx.transaction((tx) => enqueue(tx, housekeepSideRepository, { sideRepositoryId }))
  },
})

type Found = { readonly row: SideRepository; readonly repo: Repository }

/** Undefined if row or files are gone. */
async function find(ctx: Ctx, id: number): Promise<Found | undefined> {
  const row = await findSideRepositoryById(ctx.db, id)
  if (!row) return undefined
  const repo = openSideRepository(ctx, row)
  return (await repo.exists()) ? { row, repo } : undefined
}

/** The most thorough kind of housekeeping that is due, and the pushes that it covers. */
async function dueFor(ctx: Ctx, id: number) {
  const counts = await findSideHousekeeping(ctx.db, id)
  const [kind] = counts ? dueHousekeeping(counts, ctx.settings) : []
  return counts && kind && { kind, pushes: counts.pushes }
}

async function measure(ctx: Ctx, { row, repo }: Found): Promise<void> {
  const bytes = await repositorySize(repo.gitDir)
  await saveSideSize(ctx.db, row.id, bytes)
  if (row.project_id !== null) await saveWikiSize(ctx.db, row.project_id, bytes)
}
