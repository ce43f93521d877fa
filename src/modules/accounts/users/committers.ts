import type { Ctx } from '../../../api/ctx.ts'
import { privateEmailHost } from './commit-email.ts'
import { addressesOfUser, confirmedAddresses, confirmedOwners, usersAmong } from './email-queries.ts'

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
  const hidden = addresses.flatMap((address) => {
    const id = hiddenId(ctx, address)
    return id === undefined ? [] : [{ id, address: address.toLowerCase() }]
  })
  const ids = hidden.map(({ id }) => id)
  const users = new Set(ids.length === 0 ? [] : await usersAmong(ctx.db, ids))
  return new Set([...confirmed, ...hidden.filter(({ id }) => users.has(id)).map(({ address }) => address)])
}

/** Whether an address is one of a user's, and confirmed. */
export type OwnAddress = (address: string) => 'confirmed' | 'unconfirmed' | undefined

/** The addresses of a user; a private one counts as confirmed, also with a former username. One statement. */
export async function addressesOf(ctx: Ctx, userId: number): Promise<OwnAddress> {
  const own = new Map(
    (await addressesOfUser(ctx.db, userId)).map(({ address, confirmed }) => [
      address,
      confirmed ? ('confirmed' as const) : ('unconfirmed' as const),
    ]),
  )
  return (address) => own.get(address.toLowerCase()) ?? (hiddenId(ctx, address) === userId ? 'confirmed' : undefined)
}
