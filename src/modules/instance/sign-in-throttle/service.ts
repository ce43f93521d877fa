import { hash } from 'node:crypto'
import { networkOf } from '../../../access/share-key.ts'
import type { Db } from '../../../db/db.ts'
import { addFailure, deleteFailures, findFailures } from './queries.ts'

/**
 * Rate limit of failed sign-in attempts, counted in the database for all processes and transports: passwords, second
 * factors and unknown keys. Too many failures block further attempts until the window ends. The table has only failures
 * within a window, and each failure costs a password check, so it stays small.
 */
const windowSeconds = 10 * 60
const maxFailuresOfAccount = 10
/** Higher than the limit of an account, because many people may share an address. */
const maxFailuresOfAddress = 100

export type ThrottleKeys = { readonly account: Buffer | undefined; readonly address: Buffer }

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/**
 * Keys by account id, or by the login that was entered if no such account exists: the response must not reveal whether
 * it exists.
 */
export const throttleKeys = (
  who: { userId: number } | { login: string } | undefined,
  address: string | undefined,
): ThrottleKeys => ({
  account: who && digest('userId' in who ? `account ${who.userId}` : `login ${who.login.toLowerCase()}`),
  address: digest(`address ${networkOf(address ?? 'unknown')}`),
})

/** Seconds until the next attempt is allowed; `undefined` if it is allowed now. One statement. */
export async function isThrottled(db: Db, { account, address }: ThrottleKeys): Promise<number | undefined> {
  const found = await findFailures(db, account ? [account, address] : [address], windowSeconds)
  const over = found.filter(
    ({ key, failures }) => failures >= (key.equals(address) ? maxFailuresOfAddress : maxFailuresOfAccount),
  )
  return over.length > 0 ? Math.max(1, ...over.map(({ seconds }) => seconds)) : undefined
}

/** Counts a failed attempt. One statement. */
export async function recordFailure(db: Db, { account, address }: ThrottleKeys): Promise<void> {
  const keys = account ? [account, address].sort(Buffer.compare) : [address]
  await addFailure(db, keys, windowSeconds)
}

/** Resets the failures of the account after a sign-in; the failures of the address still count. */
export async function clearFailures(db: Db, { account }: ThrottleKeys): Promise<void> {
  if (account) await deleteFailures(db, account)
}
