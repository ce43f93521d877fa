import type { Ctx } from '../../../api/ctx.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { readRefs } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { conflict, invalid } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { moveRefs } from '../../pushes/index.ts'

/** Maximum attempts when other processes move the ref first. */
const attempts = 30

/**
 * Deletes a ref, even if it moves in the meantime. False if there is none. A ref whose file is damaged is deleted, too: nothing that can be
 * read is lost, and maintainers repair it so. Throws `invalid` with the reason of a refusal, and `conflict` if the ref moves each time. `requireUnmodified` is the condition of
 * the request, which also the new state of the ref must satisfy.
 */
export async function deleteRef(
  ctx: Ctx,
  project: ProjectSubject,
  repo: Repository,
  name: RefName,
  requireUnmodified: () => Promise<void>,
): Promise<boolean> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const [from] = await readRefs(repo, [name])
    if (from === undefined) return false
    // Checks the ref after it was read: if it has moved since then, the deletion below fails.
    await requireUnmodified()
    const change = { name, from, to: null }
    if ((await moveRefs(ctx, project.id, repo, [change], { refusal: invalid })) === 'moved') return true
  }
  throw conflict('The reference is being changed by other clients')
}
