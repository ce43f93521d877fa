import type { Ctx } from '../../../api/ctx.ts'
import type { QuickAction } from './parse.ts'

/** What quick actions did. */
export type Applied = {
  /** The changed attributes, as an update would name them. */
  readonly changes: Readonly<Record<string, unknown>>
  /** One sentence for each action: what was done, or that it could not be done. */
  readonly summary: readonly string[]
}

/** The quick actions of a noteable, with the rights of the caller. */
export type QuickActions = {
  /** Names in lower case. */
  readonly known: ReadonlySet<string>
  apply(ctx: Ctx, actions: readonly QuickAction[]): Promise<Applied>
}
