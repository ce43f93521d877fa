import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { type Commit, readCommit, readCommitsWithin } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { findProject, openRepository } from '../../projects/index.ts'
import { readBranch } from '../merging/heads.ts'
import { findOrigin, type Origin } from './queries.ts'

/** Maximum branches of a push, and commits of each and of all together, that are searched for references: the newest. */
const maxBranches = 10
const maxCommits = 100

/** Longer messages are read up to this total. */
const maxMessageCharacters = 4 * 1024 * 1024

export type NewCommits = {
  readonly origin: Origin
  readonly commits: readonly Commit[]
  /** Those that reached the default branch. */
  readonly arrived: ReadonlySet<Oid>
}

/**
 * The commits that a push added to branches: without those that the branch had, that the default branch has unless it was pushed
 * itself, and that the project has from which this one was forked. Oldest first. Undefined if the project is gone.
 */
export async function newCommits(
  ctx: Ctx,
  projectId: number,
  changes: readonly RefChange[],
): Promise<NewCommits | undefined> {
  const [project, origin] = await Promise.all([findProject(ctx.db, null, projectId), findOrigin(ctx.db, projectId)])
  if (!project || !origin) return undefined
  const repo = openRepository(ctx, project)
  const main = project.default_branch
  const tip = main === null ? undefined : await readBranch(repo, main)
  const [oids, arrived] = [new Set<Oid>(), new Set<Oid>()]
  for (const { name, from, to } of searched(changes, main)) {
    // Later pushes and housekeeping may have removed commits.
    const [head] = await present(repo, [to!])
    if (!head) continue
    const isMain = branchName(name) === main
    const excluding = await present(repo, [from, isMain ? undefined : tip])
    const added = await listCommitIds(repo, { from: [head], excluding }, { limit: maxCommits })
    for (const oid of added) {
      if (oids.size < maxCommits) oids.add(oid)
      if (isMain) arrived.add(oid)
    }
  }
  const forkedFrom = origin.forked_from_project_id
  const source = forkedFrom === null ? undefined : await findProject(ctx.db, null, forkedFrom)
  const own = source ? await withoutKnown(openRepository(ctx, source), [...oids]) : [...oids]
  const { commits } = await readCommitsWithin(repo, own, maxMessageCharacters)
  return { origin, commits: commits.toReversed(), arrived }
}

/** The branches of a push that are searched; the default branch first. */
const searched = (changes: readonly RefChange[], main: string | null): readonly RefChange[] =>
  changes
    .filter(({ name, to }) => to !== null && branchName(name) !== undefined)
    .toSorted((a, b) => Number(branchName(b.name) === main) - Number(branchName(a.name) === main))
    .slice(0, maxBranches)

async function present(repo: Repository, oids: readonly (Oid | null | undefined)[]): Promise<Oid[]> {
  const wanted = oids.flatMap((oid) => oid ?? [])
  const commits = await Promise.all(wanted.map((oid) => readCommit(repo, oid)))
  return wanted.filter((_, index) => commits[index] !== undefined)
}

async function withoutKnown(repo: Repository, oids: readonly Oid[]): Promise<Oid[]> {
  const known = await Promise.all(oids.map((oid) => readCommit(repo, oid)))
  return oids.filter((_, index) => known[index] === undefined)
}
