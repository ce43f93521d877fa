import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { packedBytes } from '../../../git/objects/pack.ts'
import type { PreparedCommit } from '../../../git/objects/prepare-commit.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { inTurn, moveRefs, retryWhileStale, sizeViolation } from '../../pushes/index.ts'
import { type RefusalKind, refusalOf } from './branch-access.ts'

/** The branch that a commit is created on. */
export type Target = {
  readonly project: ProjectSubject
  readonly repo: Repository
  readonly branch: string
  readonly ref: RefName
  readonly refusal: RefusalKind
}

/** A commit to which a branch moves. */
export type NewTip = PreparedCommit & {
  /** Writes the rows that it needs, once it is stored and allowed (`MoveOptions`). */
  readonly link?: () => Promise<void>
}

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
 * meantime, calls `make` again, which decides whether the change still applies.
 */
export function moveBranch(
  ctx: Ctx,
  { project, repo, branch, ref, refusal }: Target,
  make: (tip: Oid | null) => Promise<NewTip>,
): Promise<Commit> {
  ctx.outside?.prepare()
  const tryOnce = async (): Promise<Commit | 'stale'> => {
    const tip = (await readRef(repo, ref)) ?? null
    const { commit, objects, store, link } = await make(tip)
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
        ...(link && { link }),
      })
      return outcome === 'moved' ? commit : outcome
    } catch (error) {
      if (isCollision(error)) throw unusableName(branch, 'Branch name is invalid')
      throw error
    }
  }
  return inTurn(repo, ref, () => retryWhileStale(tryOnce, () => lostRace(branch)))
}
