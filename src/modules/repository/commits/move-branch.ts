import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { NewObject } from '../../../git/objects/objects.ts'
import { packedBytes } from '../../../git/objects/pack.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { runExclusive } from '../../../kernel/keyed-mutex.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { moveRefs, sizeViolation } from '../../pushes/index.ts'
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
export type MadeCommit = {
  readonly commit: Commit
  /** What the caller brings, for the size limit of the repository. Default: nothing of any size. */
  readonly objects?: readonly NewObject[]
  store(): Promise<void>
}

/** Maximum retries when other processes move the branch first. */
const attempts = 30

export const lostRace = (branch: string): Failure =>
  invalid(`Could not update branch ${branch}. Please refresh and try again.`)

export const unusableName = (branch: string, why: string): Failure =>
  invalid(`Something went wrong when we tried to create '${branch}' for you: ${why}`)

/** A handler of failed moves: a new name that collides with an existing one (`a` and `a/b`) is as invalid as any other that git refuses. */
export function refuseCollision(error: unknown): never {
  throw isCollision(error) ? invalid(error.message) : error
}

const isCollision = (error: unknown): error is Failure => error instanceof Failure && error.kind === 'conflict'

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
      const { commit, objects = [], store } = await make(tip)
      // Before they are stored: what was refused would count until maintenance removes it.
      const tooMuch = await sizeViolation(ctx, project.id, () => packedBytes(objects))
      if (tooMuch !== undefined) throw refusalOf(refusal)(tooMuch)
      try {
        const change = { name: ref, from: tip, to: commit.oid }
        const continues = tip !== null && commit.parents.includes(tip)
        const outcome = await moveRefs(ctx, project.id, repo, [change], {
          refusal: refusalOf(refusal),
          makes: 'tips',
          continues,
          store,
        })
        if (outcome === 'moved') return commit
      } catch (error) {
        if (isCollision(error)) throw unusableName(branch, 'Branch name is invalid')
        throw error
      }
      await sleep(5 * Math.min(attempt, 6) * Math.random())
    }
    throw lostRace(branch)
  })
}
