import type { World } from '../../../../test/world.ts'

/** What waits to be sent to an address, the first mail first. */
export const mailsTo = (world: World, address: string): Promise<{ subject: string; body: string }[]> =>
  world.rows('select subject, body from mails where recipient = $1 order by id', [address])
