import type { Ctx } from '../../../api/ctx.ts'
import { damageIn } from '../../../git/runner/damage.ts'

/**
 * What is read, or `otherwise` from a damaged repository: the client is not to lose its answer because of what else is damaged. Logs the
 * damage.
 */
export async function ifReadable<T>(ctx: Ctx, reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading
  } catch (error) {
    const damage = damageIn(error)
    if (!damage) throw error
    ctx.log.error({ err: damage }, 'the answer lacks what git could not read: the repository is damaged')
    return otherwise
  }
}
