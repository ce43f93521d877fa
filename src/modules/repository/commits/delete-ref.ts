import type { Ctx } from '../../../api/ctx.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { readRefs } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { conflict, invalid } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { inTurn, moveRefs, retryWhileStale } from '../../pushes/index.ts'

/**
 * Deletes a ref, even if it moves in the meantime. False if there is none. A ref whose file is damaged is deleted, too: nothing
 * that can be read is lost, and maintainers repair it so. Throws `invalid` with the reason of a refusal, and `conflict` if the ref
 * moves each time. `requireUnmodified` is the condition of the request, which also the new state of the ref must satisfy.
 */
export function deleteRef(
  ctx: Ctx,
  project: ProjectSubject,
  repo: Repository,
  name: RefName,
  requireUnmodified: () => Promise<void>,
): Promise<boolean> {
  const tryOnce = async (): Promise<boolean | 'stale'> => {
    const [from] = await readRefs(repo, [name])
    if (from === undefined) return false
    // Checks the ref after it was read: if it has moved since then, the deletion below fails.
    await requireUnmodified()
    const change = { name, from, to: null }
    const outcome = await moveRefs(ctx, project.id, repo, [change], { refusal: invalid })
    return outcome === 'moved' ? true : outcome
  }
  ctx.outside?.prepare()
  return inTurn(repo, name, () =>
    retryWhileStale(tryOnce, () => conflict('The reference is being changed by other clients')),
  )
}
