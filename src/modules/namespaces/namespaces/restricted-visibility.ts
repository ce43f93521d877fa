import type { Visibility } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'

/** Errors of a visibility that only administrators may use. */
export const restrictedVisibility = (ctx: Ctx, visibility: Visibility): string[] =>
  ctx.settings.restricted_visibility_levels.includes(visibility) && !ctx.actor?.admin
    ? [`${visibility} has been restricted by your Stithy administrator`]
    : []
