import type { Ctx } from '../../../api/ctx.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { accessLevels } from '../protected-refs/levels.ts'
import { grantOf } from '../protected-refs/params.ts'
import { findProtectedRef, type Grant } from '../protected-refs/queries.ts'
import { changeProtectedRef, type GrantChanges, protectRef, unprotectRef } from '../protected-refs/service.ts'

/** The older form of protection: whether developers may push and merge; `undefined` means unchanged. */
export type Developers = { readonly push: boolean | undefined; readonly merge: boolean | undefined }

const levelFor = (developers: boolean | undefined): Grant[] => [
  grantOf({ access_level: developers ? accessLevels.developers : accessLevels.maintainers }),
]

const replacedLevels = (developers: boolean | undefined): GrantChanges | undefined =>
  developers === undefined ? undefined : { remove: 'all', add: levelFor(developers) }

/** How often a rule is looked for that concurrent requests make and delete. */
const attempts = 3

const isOutdated = (error: unknown): boolean =>
  error instanceof Failure && (error.kind === 'conflict' || error.kind === 'not_found')

/** Protects the branch of this name, or changes the levels of its existing rule. */
export async function protectOneBranch(
  ctx: Ctx,
  project: ProjectSubject,
  name: string,
  { push, merge }: Developers,
): Promise<void> {
  const [pushes, merges] = [replacedLevels(push), replacedLevels(merge)]
  const changes = { ...(pushes && { push: pushes }), ...(merges && { merge: merges }) }
  const grants = { push: levelFor(push), merge: levelFor(merge) }
  for (let attempt = 1; ; attempt += 1) {
    const rule = await findProtectedRef(ctx.db, project.id, 'branch', name, ctx.actor)
    try {
      if (rule) await changeProtectedRef(ctx, project, rule, {}, changes)
      else await protectRef(ctx, project, { kind: 'branch', name }, grants)
      return
    } catch (error) {
      // A concurrent request has made the rule, which gets the levels of this one, or has deleted it.
      if (attempt === attempts || !isOutdated(error)) throw error
    }
  }
}

/** Removes the rule of this name, if there is one. */
export async function unprotectOneBranch(ctx: Ctx, project: ProjectSubject, name: string): Promise<void> {
  const rule = await findProtectedRef(ctx.db, project.id, 'branch', name, ctx.actor)
  if (rule) await unprotectRef(ctx, project, rule)
}
