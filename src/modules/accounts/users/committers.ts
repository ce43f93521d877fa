import type { Ctx } from '../../../api/ctx.ts'
import { privateEmailHost } from './commit-email.ts'
import { confirmedOwners } from './email-queries.ts'

const maxAddressLength = 255

/** The users with these addresses in commits: confirmed ones, and private ones, which contain the ID of the user. One statement. */
export async function usersOfCommits(ctx: Ctx, given: ReadonlySet<string>): Promise<number[]> {
  // Commits contain any bytes; PostgreSQL rejects NUL.
  const addresses = [...given].filter((address) => address.length <= maxAddressLength && !address.includes('\0'))
  const host = `@${privateEmailHost(ctx).toLowerCase()}`
  const hidden = addresses.flatMap((address) => {
    const id = address.toLowerCase().endsWith(host) ? /^(\d{1,15})-/.exec(address)?.[1] : undefined
    return id === undefined ? [] : [Number(id)]
  })
  return [...new Set([...hidden, ...(await confirmedOwners(ctx.db, addresses))])]
}
