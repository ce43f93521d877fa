import type { Ctx } from '../../../api/ctx.ts'
import { privateEmailHost } from './commit-email.ts'
import { addressesOfUser, confirmedAddresses, confirmedOwners, userNames } from './email-queries.ts'

const maxAddressLength = 255

/** Addresses in commits that a user can have: commits contain any bytes, and PostgreSQL rejects NUL. */
const possible = (given: ReadonlySet<string>): string[] =>
  [...given].filter((address) => address.length <= maxAddressLength && !address.includes('\0'))

/** The ID in a private address; `undefined` for other addresses. */
function hiddenId(ctx: Ctx, address: string): number | undefined {
  const host = `@${privateEmailHost(ctx).toLowerCase()}`
  const id = address.toLowerCase().endsWith(host) ? /^(\d{1,15})-/.exec(address)?.[1] : undefined
  return id === undefined ? undefined : Number(id)
}

/** The users with these addresses in commits: confirmed ones, and private ones, which contain the ID of the user. One statement. */
export async function usersOfCommits(ctx: Ctx, given: ReadonlySet<string>): Promise<number[]> {
  const addresses = possible(given)
  const hidden = addresses.flatMap((address) => hiddenId(ctx, address) ?? [])
  return [...new Set([...hidden, ...(await confirmedOwners(ctx.db, addresses))])]
}

/** Those of the addresses that belong to a user, in lower case: confirmed ones, and private ones. At most two statements. */
export async function addressesOfUsers(ctx: Ctx, given: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const addresses = possible(given)
  const confirmed = await confirmedAddresses(ctx.db, addresses)
  const hidden = addresses.flatMap((address) => hiddenId(ctx, address) ?? [])
  const host = privateEmailHost(ctx)
  const names = hidden.length === 0 ? [] : await userNames(ctx.db, hidden)
  return new Set([...confirmed, ...names.map(({ id, username }) => `${id}-${username}@${host}`.toLowerCase())])
}

/** The addresses of a user in lower case; a private one counts as confirmed. One statement. */
export async function addressesOf(
  ctx: Ctx,
  userId: number,
): Promise<{ readonly confirmed: ReadonlySet<string>; readonly unconfirmed: ReadonlySet<string> }> {
  const rows = await addressesOfUser(ctx.db, userId)
  const confirmed = new Set<string>()
  const unconfirmed = new Set<string>()
  for (const { address, confirmed: isConfirmed, username } of rows) {
    const hidden = `${userId}-${username}@${privateEmailHost(ctx)}`.toLowerCase()
    confirmed.add(hidden)
    if (isConfirmed) confirmed.add(address)
    else unconfirmed.add(address)
  }
  return { confirmed, unconfirmed }
}
