import { randomBytes } from 'node:crypto'
import { SharedSlots } from '../../../kernel/shares.ts'

/** Not loaded by a process that checks no passwords. */
const loadArgon2 = () => import('@node-rs/argon2')

/** Argon2id with the library's default parameters: about 12 ms on its own thread. */
export async function digestPassword(password: string): Promise<string> {
  const { hash } = await loadArgon2()
  return hash(password)
}

/** A digest of no one's password. */
let decoy: Promise<string> | undefined

function findDecoy(): Promise<string> {
  decoy ??= digestPassword(randomBytes(16).toString('hex')).catch((error) => {
    // The next check tries again.
    decoy = undefined
    throw error
  })
  return decoy
}

/** Each check occupies one of the four libuv threads of the process, which also read its files. */
const checks = new SharedSlots('password checks', { slots: 3, maxWaiting: 600 })

/**
 * Runs `work`, which checks a password, within the caller's share of such checks. Check the limit of failed attempts
 * inside `work`, so that it applies to concurrent guesses too. Throws `rate_limited` or `unavailable` if too many wait.
 */
export const inTurnToCheck = <T>(caller: string, work: () => Promise<T>): Promise<T> => checks.run(caller, work)

/** Takes the same time with and without a digest. */
export async function isPassword(digest: string | null, password: string): Promise<boolean> {
  const { verify } = await loadArgon2()
  // Also awaited if it is not needed: the first check makes it.
  const other = await findDecoy()
  const matches = await verify(digest ?? other, password)
  return matches && digest !== null
}
