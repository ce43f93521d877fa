import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { runExclusive } from '../../../kernel/keyed-mutex.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { moveRefs } from '../../pushes/index.ts'
import { type RefusalKind, refusalOf } from './branch-access.ts'

/** The branch that a commit is created on. */
export type Target = {
  readonly project: ProjectSubject
  readonly repo: Repository
  readonly branch: string
  readonly ref: RefName
  readonly refusal: RefusalKind
}

/** A new commit, with the function that stores its objects. */
export type MadeCommit = { readonly commit: Commit; store(): Promise<void> }

/** Maximum retries when other processes move the branch first. */
const attempts = 30

export const lostRace = (branch: string): Failure =>
  invalid(`Could not update branch ${branch}. Please refresh and try again.`)

export const unusableName = (branch: string, why: string): Failure =>
  invalid(`Something went wrong when we tried to create '${branch}' for you: ${why}`)

/**
 * Moves the branch to the commit that `make` creates on its tip (`null`: the branch is new). If the branch moved in the
 * meantime, calls `make` again, which decides whether the change still applies. Writers of a branch are serialised
 * within this process; compare-and-swap detects those in other processes.
 */
export function moveBranch(
  ctx: Ctx,
  { project, repo, branch, ref, refusal }: Target,
  make: (tip: Oid | null) => Promise<MadeCommit>,
): Promise<Commit> {
  ctx.outside?.prepare()
  return runExclusive(`${repo.gitDir} ${ref}`, async () => {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const tip = (await readRef(repo, ref)) ?? null
      const { commit, store } = await make(tip)
      try {
        const change = { name: ref, from: tip, to: commit.oid }
        const continues = tip !== null && commit.parents.includes(tip)
        const outcome = await moveRefs(ctx, project.id, repo, [change], {
          refusal: refusalOf(refusal),
          continues,
          store,
        })
        if (outcome === 'moved') return commit
      } catch (error) {
        // `a` cannot exist beside `a/b`.
        if (error instanceof Failure && error.kind === 'conflict') throw unusableName(branch, 'Branch name is invalid')
        throw error
      }
      await sleep(5 * Math.min(attempt, 6) * Math.random())
    }
    throw lostRace(branch)
  })
}
