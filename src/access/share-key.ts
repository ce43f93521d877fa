import { isIPv6 } from 'node:net'
import { unknownCaller } from '../kernel/shares.ts'
import type { Caller } from './actor.ts'

/**
 * Identifies the owner of a share of a limited pool: an account, or the network of an anonymous client. Bots, deploy keys and
 * deploy tokens use the share of the account that created them, because one account can create any number of them. An
 * administrator who acts for another user uses the administrator's share. '' is the service itself.
 */
export function shareKeyOf(caller: Caller, address: string | undefined): string {
  if (!caller) return address === undefined ? '' : `${unknownCaller}${networkOf(address)}`
  const creatorId = (caller.deployKey ?? caller.deployToken ?? caller.bot)?.creatorId ?? null
  if (creatorId !== null) return `user ${creatorId}`
  if (caller.deployKey) return `deploy key ${caller.deployKey.id}`
  if (caller.deployToken) return `deploy token ${caller.deployToken.id}`
  return `user ${caller.sudo?.id ?? caller.id}`
}

/** An IPv4 address unchanged; for an IPv6 address its /64 prefix, the smallest network that one customer usually gets. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.toLowerCase().split('%', 1)[0]!.split('::', 2)
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const [before, after] = [groups(head), groups(tail)]
  const omitted = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const all = [...before, ...Array<string>(omitted).fill('0'), ...after]
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
