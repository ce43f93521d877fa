import type { Ctx } from '../../../api/ctx.ts'
import { forbidden } from '../../../kernel/failure.ts'

/** Throws `forbidden` if only administrators may set up mirrors, and the caller is none. */
export function requireMirrorsAvailable({ settings, actor }: Ctx): void {
  if (!settings.mirror_available && !actor?.admin) throw forbidden()
}
