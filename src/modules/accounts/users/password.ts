import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { SharedSlots } from '../../../kernel/shares.ts'

/** Argon2id with the library's parameters: about 12 ms on its own thread. */
export const digestPassword = (password: string): Promise<string> => hash(password)

const decoy = digestPassword(randomBytes(16).toString('hex'))

/** Each check occupies one of the four threads of the process that also read its files. */
const checks = new SharedSlots('password checks', { slots: 3, maxWaiting: 600 })

/**
 * Runs `work`, which checks a password, when the caller's share of such checks has room. What limits failed attempts is to be
 * asked inside, so that many guesses at once are limited like those that come one by one. Rejects with `rate_limited` or
 * `unavailable` when too many wait.
 */
export const inTurnToCheck = <T>(caller: string, work: () => Promise<T>): Promise<T> => checks.run(caller, work)

/** Takes the same time whether or not there is a digest to compare with. */
export async function isPassword(digest: string | null, password: string): Promise<boolean> {
  const matches = await verify(digest ?? (await decoy), password)
  return matches && digest !== null
}
