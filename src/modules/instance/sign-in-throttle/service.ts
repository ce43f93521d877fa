import { hash } from 'node:crypto'
import { networkOf } from '../../../access/share-key.ts'
import type { Db } from '../../../db/db.ts'
import { addFailure, deleteFailures, findFailures } from './queries.ts'

/**
 * Failed attempts to sign in, counted in the database for all processes and doors together: passwords, second factors and
 * keys that nobody has. Whoever has failed too often waits. The table keeps what failed within a window, and each failure
 * costs us a password check, so it stays small.
 */
const windowSeconds = 10 * 60
const mostOfAccount = 10
/** Many people may share an address. */
const mostOfAddress = 100

export type ThrottleKeys = { readonly account: Buffer | undefined; readonly address: Buffer }

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/** An account by number, or what was typed where there is none: whether there is one must not show. */
export const throttleKeys = (
  who: { userId: number } | { login: string } | undefined,
  address: string | undefined,
): ThrottleKeys => ({
  account: who && digest('userId' in who ? `account ${who.userId}` : `login ${who.login.toLowerCase()}`),
  address: digest(`address ${networkOf(address ?? 'unknown')}`),
})

/** Seconds to wait; `undefined` when there is no need to. One statement. */
export async function isThrottled(db: Db, { account, address }: ThrottleKeys): Promise<number | undefined> {
  const found = await findFailures(db, account ? [account, address] : [address], windowSeconds)
  const over = found.filter(({ key, failures }) => failures >= (key.equals(address) ? mostOfAddress : mostOfAccount))
  return over.length > 0 ? Math.max(1, ...over.map(({ seconds }) => seconds)) : undefined
}

/** One statement. */
export async function noteFailure(db: Db, { account, address }: ThrottleKeys): Promise<void> {
  const keys = account ? [account, address].sort(Buffer.compare) : [address]
  await addFailure(db, keys, windowSeconds)
}

/** Whoever signed in begins anew; what else failed at his address still counts. */
export async function clearFailures(db: Db, { account }: ThrottleKeys): Promise<void> {
  if (account) await deleteFailures(db, account)
}
