import { createHash } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import type { Found } from '../../../git/objects/text-search.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { repairInBackground } from '../../../git/repository/damaged-indexes.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { RepositoryUnion } from '../../../git/repository/union.ts'
import { damageIn } from '../../../git/runner/damage.ts'
import { GitError } from '../../../git/runner/git-error.ts'
import { runExclusive } from '../../../kernel/keyed-mutex.ts'
import { openRepository, type ProjectSubject, projectFacts } from '../../projects/index.ts'
import { timeoutMs, tookTooLong } from './bounds.ts'
import { projectsWithCode } from './queries.ts'

/** Maximum projects per search; code in other projects is found by searching them or their groups. */
const maxProjects = 100

/** A project that is searched, with the commit of its default branch. */
export type Source = {
  readonly project: ProjectSubject & { readonly default_branch: string }
  readonly repo: Repository
  readonly tip: Oid
}

/** Projects that are searched; `all` if they are all that the caller may read. */
export type Sources = { readonly sources: readonly Source[]; readonly all: boolean }

/** Default branches of projects whose code the caller may read, latest activity first. Starts no git process. */
export async function readableSources(ctx: Ctx, traversalIds: readonly number[] | undefined): Promise<Sources> {
  const projects = await projectsWithCode(ctx.db, ctx.actor, traversalIds, maxProjects + 1)
  const sources = await Promise.all(
    projects.slice(0, maxProjects).map(async (row): Promise<Source[]> => {
      const branch = row.default_branch!
      const repo = openRepository(ctx, row)
      const ref = branchRef(branch)
      const tip = ref && (await readRef(repo, ref))
      if (!tip) return []
      const project = Object.assign(row, { facts: projectFacts(row), default_branch: branch })
      return [{ project, repo, tip }]
    }),
  )
  return { sources: sources.flat(), all: projects.length <= maxProjects }
}

/** Searches some commits in the repository that has all of them; `left` returns the remaining milliseconds. */
export type SearchTips<Thing> = (repo: Repository, tips: readonly Oid[], left: () => number) => Promise<Found<Thing>>

/** `broken`: at least one repository could not be read. */
type Gathered<Thing> = Found<Thing> & { readonly broken: boolean }

/**
 * Searches all sources in one process and caches the results by commit, so that paging is cheap. A commit that several
 * sources share is searched once. Returns partial results at the timeout, unless there are none.
 */
export async function searchTogether<Thing extends object>(
  ctx: Ctx,
  sources: readonly Source[],
  key: string,
  search: SearchTips<Thing>,
  sizeOf: (all: Found<Thing>) => number,
): Promise<Found<Thing>> {
  const [first] = sources
  if (!first) return { found: [], complete: true, timedOut: false }
  const byTip = [...Map.groupBy(sources, ({ tip }) => tip)]
  const name = createHash('sha256')
    .update(byTip.map(([tip]) => tip).join())
    .update(key)
    .digest('base64')
  let partial: Found<Thing> | undefined
  const whole = await memoize(
    first.repo,
    `together ${name}`,
    ({ signal }) =>
      inSearchTurn({ ...ctx, signal }, async () => {
        const deadline = performance.now() + timeoutMs
        const all = await searchAround({ ...ctx, signal }, byTip, search, () =>
          Math.max(1, deadline - performance.now()),
        )
        if (!all.timedOut && !all.broken) return all
        partial = all
        return undefined
      }),
    sizeOf,
  )
  if (partial?.timedOut && partial.found.length === 0) throw tookTooLong()
  return (whole ?? partial)!
}

/**
 * Runs one such search at a time in this process, so that other git processes stay fast; each caller has at most one in
 * the queue. A search that waited for the whole timeout fails, so that the queue stays short.
 */
function inSearchTurn<T>({ actor, signal }: Ctx, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + timeoutMs
  const unlessLate = () => {
    signal?.throwIfAborted()
    if (performance.now() > until) throw tookTooLong()
    return work()
  }
  return runExclusive(`search by ${actor?.id}`, () => runExclusive('search of many projects', unlessLate))
}

/** One read-only repository over all of these sources, for reading objects by id. */
export const unionOf = (ctx: Ctx, sources: readonly Source[]): Promise<RepositoryUnion> =>
  RepositoryUnion.of(
    ctx.git,
    sources.map(({ repo }) => repo),
    ctx.signal,
  )

/** When git fails, searches the halves separately, so that a broken repository hides only its own results. */
async function searchAround<Thing>(
  ctx: Ctx,
  byTip: readonly (readonly [tip: Oid, having: readonly Source[]])[],
  search: SearchTips<Thing>,
  left: () => number,
): Promise<Gathered<Thing>> {
  const sources = byTip.flatMap(([, having]) => having)
  const tips = byTip.map(([tip]) => tip)
  await using repo = await unionOf(ctx, sources)
  try {
    return { ...(await search(repo, tips, left)), broken: false }
  } catch (error) {
    if (!(error instanceof GitError) || error.signal !== null) throw error
    if (tips.length === 1) {
      ctx.log.error({ err: error, projects: sources.map(({ project }) => project.id) }, 'failed to search code')
      // What failed is the union of the repositories, which has no indexes of its own.
      if (damageIn(error)) for (const { repo } of sources) repairInBackground(repo)
      return { found: [], complete: false, timedOut: false, broken: true }
    }
  }
  const middle = byTip.length >> 1
  const before = await searchAround(ctx, byTip.slice(0, middle), search, left)
  const after = await searchAround(ctx, byTip.slice(middle), search, left)
  return {
    found: [...before.found, ...after.found],
    complete: before.complete && after.complete,
    timedOut: before.timedOut || after.timedOut,
    broken: before.broken || after.broken,
  }
}
