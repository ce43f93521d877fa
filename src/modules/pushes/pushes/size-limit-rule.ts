import { newBytesOf } from '../../../git/transfer/maintenance.ts'
import { sizeViolation } from '../large-files/size-limit.ts'
import type { PushRule } from './rule.ts'

/** Pushes that only delete refs pass. */
export const sizeLimitRule: PushRule = async ({ ctx, project, changes, objects }) =>
  changes.every(({ to }) => to === null)
    ? undefined
    : sizeViolation(ctx, project.id, async () => newBytesOf(await objects()))
