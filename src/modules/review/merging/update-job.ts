import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { ancestorsAmong } from '../../../git/history/ancestry.ts'
import { job } from '../../../jobs/job.ts'
import { findProject, openRepository } from '../../projects/index.ts'
import { mergeRequestsUpdateDue } from './after-push.ts'
import { readBranch } from './heads.ts'
import { type OpenRow, openAround, uncheckInto } from './queries.ts'
import { catchUp } from './update.ts'

/**
 * By what the branches are now, whatever moved them: it may run twice, late, and once for several pushes. Looks at all that is open
 * in one statement, with one walk for each target branch, and only takes up what something happened to. One that fails holds up no other.
 */
export const updateMergeRequests = job({
  ...mergeRequestsUpdateDue,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    const rows = await openAround(ctx.db, projectId)
    const moved = new Set<number>()
    for (const row of rows) {
      if (row.state === 'locked') moved.add(row.id)
      else if (row.source_project_id === projectId)
        if ((await readBranch(repo, row.source_branch)) !== (row.head_oid ?? undefined)) moved.add(row.id)
    }
    const inProject = Map.groupBy(
      rows.filter((row) => row.project_id === projectId),
      ({ target_branch }) => target_branch,
    )
    for (const [branch, into] of inProject) {
      const target = await readBranch(repo, branch)
      const had = target && (await ancestorsAmong(repo, target, oidsOf(into)))
      for (const row of into) if (had && hasTurned(row, had)) moved.add(row.id)
      await uncheckInto(ctx.db, projectId, branch, target ?? null)
    }
    await eachByItself(ctx, [...moved])
  },
})

const oidsOf = (rows: readonly OpenRow[]): Oid[] =>
  rows.flatMap(({ head_oid, start_oid }) => [head_oid ?? [], start_oid ?? []].flat())

/** Whether the target, which has these commits, came to have the head, or lost what it had. */
const hasTurned = ({ head_oid, start_oid, commits }: OpenRow, had: ReadonlySet<Oid>): boolean =>
  (head_oid !== null && commits > 0 && had.has(head_oid)) || (start_oid !== null && !had.has(start_oid))

async function eachByItself(ctx: Ctx, ids: readonly number[]): Promise<void> {
  const errors: unknown[] = []
  for (const id of ids) await catchUp(ctx, id).catch((error: unknown) => errors.push(error))
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} merge requests cannot be brought up to date`)
}
