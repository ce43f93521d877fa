import { mailRows } from '../../../../test/tables/instance.ts'
import type { World } from '../../../../test/world.ts'

/** Unsent mails to an address, oldest first. */
export const mailsTo = (world: World, address: string): Promise<{ subject: string; body: string }[]> =>
  mailRows(world, address, 'subject', 'body')
