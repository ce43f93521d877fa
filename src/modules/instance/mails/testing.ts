import type { World } from '../../../../test/world.ts'

/** Unsent mails to an address, oldest first. */
export const mailsTo = (world: World, address: string): Promise<{ subject: string; body: string }[]> =>
  world.rows('select subject, body from mails where recipient = $1 order by id', [address])
