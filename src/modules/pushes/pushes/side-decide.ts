import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { newBytesOf } from '../../../git/transfer/maintenance.ts'
import { sizeViolationOf } from '../large-files/size-limit.ts'
import type { SideKind, SideSubject } from '../side-repositories/kind.ts'
import type { SideHolder } from '../side-repositories/queries.ts'
import { refViolation } from './ref-rules.ts'

/**
 * Decides about a push to a side repository, as `decide` does for projects: with current facts, because the push may have
 * taken long. Returns the reason of a refusal.
 */
export async function decideSide(
  ctx: Ctx,
  kind: SideKind,
  holder: SideHolder,
  changes: readonly RefChange[],
  objects: () => Promise<Repository>,
): Promise<string | undefined> {
  const subject = await kind.load(ctx, holder)
  if (!subject?.isVisible) return 'The repository does not exist.'
  if (!subject.mayPush) return subject.refusals.push
  return violationOf(ctx, subject, changes, objects)
}

async function violationOf(
  ctx: Ctx,
  { row, violation }: SideSubject,
  changes: readonly RefChange[],
  objects: () => Promise<Repository>,
): Promise<string | undefined> {
  const ofRefs = refViolation(changes, row?.default_branch ?? null)
  if (ofRefs !== undefined) return ofRefs
  const adds = changes.some(({ to }) => to !== null)
  const size = async () => row?.size ?? 0
  const ofSize = adds ? await sizeViolationOf(ctx, size, async () => newBytesOf(await objects())) : undefined
  return ofSize ?? violation?.(changes, objects)
}
