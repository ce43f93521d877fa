import type { Ctx } from '../../../api/ctx.ts'
import { tooManyRequests } from '../../../kernel/failure.ts'
import { countHit } from '../../../settings/queries.ts'

const periodSeconds = 60

/** Throws `rate_limited` if the caller exceeds the search limit of the settings. One statement. */
export async function requireAllowance({ db, actor, settings }: Ctx): Promise<void> {
  const limit = settings.search_rate_limit
  if (limit === 0) return
  const { hits } = await countHit(db, `search:${actor!.id}`, periodSeconds)
  if (hits > limit) throw tooManyRequests()
}
