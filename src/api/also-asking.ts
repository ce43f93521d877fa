import type { Ctx } from './ctx.ts'

/**
 * The context, whose transactions ask for more when they ask again for the permission of the request: `require` throws if the caller lacks
 * it now.
 */
export const alsoAsking = (ctx: Ctx, require: (now: Ctx) => Promise<void>): Ctx => ({
  ...ctx,
  transaction: (work) =>
    ctx.transaction((tx) => {
      const { requirePermission } = tx
      if (!requirePermission) return work(tx)
      return work({
        ...tx,
        async requirePermission() {
          await requirePermission()
          await require({ ...ctx, db: tx })
        },
      })
    }),
})
