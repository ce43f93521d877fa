import { BlockList, isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'

const list = (...subnets: readonly string[]): BlockList => {
  const blocks = new BlockList()
  for (const subnet of subnets) addSubnet(blocks, subnet)
  return blocks
}

function addSubnet(blocks: BlockList, text: string): void {
  const [network = '', prefix = ''] = text.split('/')
  const kind = isIPv4(network) ? 'ipv4' : 'ipv6'
  const widest = kind === 'ipv4' ? 32 : 128
  const bits = prefix === '' ? widest : Number(prefix)
  if (isIP(network) === 0 || !/^\d*$/.test(prefix) || bits > widest) return
  blocks.addSubnet(network, bits, kind)
}

const has = (blocks: BlockList, address: string) => blocks.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')

/**
 * Ranges that are not globally reachable according to the IANA special-purpose registries (RFC 6890), each with its
 * error message. The first match counts.
 */
const forbiddenRanges: readonly (readonly [violation: string, BlockList])[] = [
  ['Requests to localhost are not allowed', list('0.0.0.0/8', '::/128')],
  ['Requests to loopback addresses are not allowed', list('127.0.0.0/8', '::1/128')],
  [
    'Requests to the local network are not allowed',
    list('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'),
  ],
  ['Requests to the link local network are not allowed', list('169.254.0.0/16', 'fe80::/10')],
  // Ranges below are never the address of a host on the public network.
  ['Requests to the shared address space are not allowed', list('100.64.0.0/10')],
  ['Requests to multicast addresses are not allowed', list('224.0.0.0/4', 'ff00::/8')],
  [
    'Requests to reserved addresses are not allowed',
    list(
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '240.0.0.0/4',
      '100::/64',
      '100:0:0:1::/64',
      // IETF protocol assignments: benchmarking, ORCHID and documentation ranges, and Teredo, which obfuscates the IPv4
      // address.
      '2001::/23',
      '2001:db8::/32',
      '3fff::/20',
      '5f00::/16',
      // Translation prefix of a local network (RFC 8215): the network chooses which bits are the IPv4 address.
      '64:ff9b:1::/48',
    ),
  ],
]

/** IPv6 prefixes that embed an IPv4 address, with the index of its first 16-bit group. */
const embeddings: readonly (readonly [BlockList, group: number])[] = [
  // IPv4-mapped (RFC 4291), IPv4-translated (RFC 2765) and IPv4-compatible (RFC 4291).
  [list('::ffff:0:0/96'), 6],
  [list('::ffff:0:0:0/96'), 6],
  [list('::/96'), 6],
  // Translation by NAT64 (RFC 6052) and 6to4 (RFC 3056).
  [list('64:ff9b::/96'), 6],
  [list('2002::/16'), 1],
]

/**
 * The IPv4 address that an IPv6 address embeds, or the address itself if it embeds none. Accepts every spelling of an
 * address.
 */
export function plainAddress(address: string): string {
  if (isIPv4(address)) return address
  const found = embeddings.find(([blocks]) => blocks.check(address, 'ipv6'))
  if (!found) return address
  const groups = groupsOf(address)
  // `::` and `::1` embed no IPv4 address in any spelling.
  if (groups.slice(0, 7).every((group) => group === 0) && groups[7]! <= 1) return groups[7] === 0 ? '::' : '::1'
  const [high, low] = [groups[found[1]]!, groups[found[1] + 1]!]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** Of an address such as `fe80::1%eth0`. */
const withoutZone = (address: string): string => address.split('%', 1)[0]!

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser writes the last 32 bits in hex and everything in lower case.
  const text = new URL(`http://[${withoutZone(address)}]/`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  if (tail === undefined) return numbers(head)
  const [before, after] = [numbers(head), numbers(tail)]
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

/** Addresses of this machine's network interfaces. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => withoutZone(address)))

/**
 * Error message if requests to an address are forbidden; `undefined` for public addresses. `own` are the addresses of
 * this machine.
 */
export function violationAbout(address: string, own: readonly string[] = ownAddresses()): string | undefined {
  const plain = plainAddress(withoutZone(address))
  if (own.includes(plain)) return 'Requests to localhost are not allowed'
  return forbiddenRanges.find(([, blocks]) => has(blocks, plain))?.[0]
}

/** Hosts that an administrator allows: names, addresses and ranges, matched as written. */
export class Trusted {
  readonly #names = new Set<string>()
  readonly #addresses = new BlockList()

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const text = entry.trim().toLowerCase()
      if (isIP(text.split('/', 1)[0]!) !== 0) addSubnet(this.#addresses, text)
      else this.#names.add(text)
    }
  }

  hasName = (host: string): boolean => this.#names.has(host.toLowerCase())
  hasAddress = (address: string): boolean => has(this.#addresses, plainAddress(address))
}
