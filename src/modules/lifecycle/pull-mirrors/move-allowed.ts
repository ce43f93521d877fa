import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { decide, moveRefs } from '../../pushes/index.ts'

export type Refused = { readonly name: RefName; readonly reason: string }

type Permitted = { readonly changes: readonly RefChange[]; readonly refused: readonly Refused[] }

/**
 * The changes that the push rules allow the user. A rule refuses all changes together, so refused ones are found by halves:
 * the number of decisions grows with them and the logarithm of all.
 */
export async function permittedChanges(
  user: Ctx,
  projectId: number,
  changes: readonly RefChange[],
  objects: Repository,
): Promise<Permitted> {
  if (changes.length === 0) return { changes, refused: [] }
  const verdict = await decide(user, projectId, changes, async () => objects, { transport: 'system' })
  if (verdict.refused === undefined) return { changes, refused: [] }
  if (changes.length === 1) return { changes: [], refused: [{ name: changes[0]!.name, reason: verdict.refused }] }
  const half = changes.length >> 1
  const first = await permittedChanges(user, projectId, changes.slice(0, half), objects)
  const second = await permittedChanges(user, projectId, changes.slice(half), objects)
  return { changes: [...first.changes, ...second.changes], refused: [...first.refused, ...second.refused] }
}

/** Changes of one push; more are several pushes. */
const maxChanges = 400

/** Failures that say why refs did not move; others are errors of the service. */
const reasons: readonly string[] = ['forbidden', 'conflict', 'unprocessable']

/**
 * Moves refs as pushes of the user, the groups in this order. If one ref of a push cannot be moved, each is moved alone. A ref that
 * another push moved in the meantime is left to the next update. Returns the refused ones.
 */
export async function moveAllowed(
  user: Ctx,
  project: ProjectSubject,
  repo: Repository,
  groups: readonly (readonly RefChange[])[],
  { options }: { readonly options: readonly string[] },
): Promise<Refused[]> {
  const move = (changes: readonly RefChange[]) =>
    moveRefs(user, project.id, repo, changes, { transport: 'system', options })
  const refused: Refused[] = []
  for (const changes of groups.flatMap((group) => inParts(group, maxChanges))) {
    const outcome = await move(changes).catch((error: unknown) => {
      if (!(error instanceof Failure) || !reasons.includes(error.kind)) throw error
      return error
    })
    if (outcome === 'moved') continue
    if (changes.length > 1)
      refused.push(
        ...(await moveAllowed(
          user,
          project,
          repo,
          changes.map((change) => [change]),
          { options },
        )),
      )
    else if (outcome !== 'stale') refused.push({ name: changes[0]!.name, reason: outcome.message })
  }
  return refused
}

const inParts = <T>(all: readonly T[], size: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
