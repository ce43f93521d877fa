import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { setDefaultBranch } from '../../../git/head.ts'
import { writeCommitGraph } from '../../../git/maintenance.ts'
import { branchName, branchRef } from '../../../git/ref-name.ts'
import type { RefTip } from '../../../git/refs.ts'
import type { Repository } from '../../../git/repository.ts'
import { enqueue } from '../../../jobs/job.ts'
import {
  initialBranch,
  lockProject,
  projectRepositoryDir,
  refreshLanguages,
  saveRepositoryFacts,
  setAside,
} from '../../projects/index.ts'
import { protectFirstBranch, repositoryFacts } from '../../pushes/index.ts'
import { beginImport, failImport, finishImport, type ImportRow } from './queries.ts'

/** Why a repository cannot be filled, in a sentence that its maintainers read. Trying again would not help. */
export class ImportRefusal extends Error {
  override name = 'ImportRefusal'
}

/** What came: branches and tags, and the branch that the other side begins with. */
export type Filling = { readonly refs: readonly RefTip[]; readonly defaultBranch: string | null | undefined }

/** An import that was cut off so often is what cuts it off. */
const maxAttempts = 5

/** What a job says of the repository that it fills. `storage` is told apart, since the project may be gone. */
export type Place = { readonly projectId: number; readonly storage: string }

/**
 * Fills the repository of a new project, beside its place, and puts it there whole. May be cut off anywhere and be run
 * again: until the last transaction nobody sees a repository, and what a run left behind goes with the next. `also` is
 * part of that transaction, and may still throw an `ImportRefusal`.
 */
export async function fillRepository(
  ctx: Ctx,
  { projectId, storage }: Place,
  fill: (repo: Repository, wish: ImportRow) => Promise<Filling>,
  also?: (tx: Tx) => Promise<void>,
): Promise<void> {
  const place = projectRepositoryDir(ctx, { id: projectId, repository_storage: storage })
  // One job at a time fills a project, so the name can be known to the next run.
  const draft = `${place}.import`
  await ctx.git.removeRepository(draft)
  const wish = await beginImport(ctx.db, projectId)
  if (!wish) return
  try {
    if (wish.attempts > maxAttempts) throw new ImportRefusal('The import was interrupted too often.')
    const { repository_key: key } = wish
    await setAside(ctx, { id: projectId, repository_storage: storage, repository_key: key })
    // Of a run that was cut off between its last two steps.
    await ctx.git.removeRepository(place)
    await ctx.git.ensureRepository(draft, { defaultBranch: initialBranch, key })
    const repo = ctx.git.open(draft)
    const filling = await fill(repo, wish)
    await settle(ctx, projectId, { repo, place, filling, also })
  } catch (error) {
    if (!(error instanceof ImportRefusal)) throw error
    await endInFailure(ctx, projectId, error.message)
  } finally {
    await ctx.git.removeRepository(draft)
  }
}

/** Ends an import that cannot succeed. */
export const endInFailure = (ctx: Ctx, projectId: number, error: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    if (await failImport(tx, projectId, error))
      await emit(tx, { kind: 'project_import_failed', projectId, actorId: null, payload: {} })
  })

type Result = {
  repo: Repository
  place: string
  filling: Filling
  also: ((tx: Tx) => Promise<void>) | undefined
}

async function settle(ctx: Ctx, projectId: number, { repo, place, filling, also }: Result): Promise<void> {
  const branch = mainBranch(filling)
  if (branch !== null) await setDefaultBranch(repo, branch)
  await writeCommitGraph(repo)
  const facts = await repositoryFacts(repo, branch)
  await ctx.transaction(async (tx) => {
    const project = await lockProject(tx, projectId)
    if (!project || !(await finishImport(tx, projectId, branch))) return
    if (branch !== null) await protectFirstBranch(tx, projectId, branch, ctx.settings.default_branch_protection)
    await saveRepositoryFacts(tx, projectId, filling.refs.length > 0 ? facts : { ...facts, repositorySize: 0 })
    await also?.(tx)
    await emit(tx, {
      kind: 'project_imported',
      projectId,
      actorId: null,
      payload: { ref_count: filling.refs.length },
    })
    if (branch !== null) await enqueue(tx, refreshLanguages, { projectId })
    // Last: should the commit fail, the next run takes it away again.
    if (filling.refs.length > 0) await ctx.git.placeRepository(repo.gitDir, place)
  })
}

/** The branch that the other side begins with, if it came; else the one that a push would make the default. */
function mainBranch({ refs, defaultBranch }: Filling): string | null {
  const branches = new Set(refs.flatMap(({ name }) => branchName(name) ?? []).filter((name) => branchRef(name)))
  return [defaultBranch, 'master', 'main', ...branches].find((name) => name != null && branches.has(name)) ?? null
}
