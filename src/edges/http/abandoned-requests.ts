import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import { networkOf } from '../../access/share-key.ts'
import type { RawParams } from '../../api/params/raw.ts'
import { shownToken } from './authenticate.ts'
import { parseUrlencoded } from './body/urlencoded.ts'
import { splitTarget } from './target.ts'
import { uploadAddress } from './upload-address.ts'

/** How many requests a network may abandon at once, and how many more each second. */
export type AbandonedLimit = { readonly burst: number; readonly perSecond: number }

/** A network counts as new again after this many others: a client cannot make the service remember without bound. */
const maxNetworks = 10_000

/**
 * Counts the requests of anonymous clients that close the connection before they have the response, by network. A client
 * that does so all the time pays nothing and costs a process for each request; beyond the limit its network gets a 429
 * before anything is looked up. One for each process of the service.
 */
export class AbandonedRequests {
  readonly #limit: AbandonedLimit
  /** Network → abandoned requests, less what has been forgiven since `at` (`performance.now()`). */
  readonly #counts = new LRUCache<string, { count: number; at: number }>({ max: maxNetworks })

  constructor(limit: AbandonedLimit) {
    this.#limit = limit
  }

  /** Counts the request if its client leaves before the response is complete. */
  watch(res: ServerResponse, address: string): void {
    res.once('close', () => {
      if (!res.writableFinished) this.#add(networkOf(address))
    })
  }

  /** Seconds after which the network is served again, or undefined if it is served now. */
  retryAfter(address: string): number | undefined {
    if (this.#counts.size === 0) return undefined
    const excess = this.#countOf(networkOf(address)) - this.#limit.burst
    return excess < 0 ? undefined : Math.ceil((excess + 1) / this.#limit.perSecond)
  }

  /** The count is capped, so that a network is served again about a second after it stops, however long it went on. */
  #add(network: string): void {
    const count = Math.min(this.#countOf(network) + 1, this.#limit.burst + this.#limit.perSecond)
    this.#counts.set(network, { count, at: performance.now() })
  }

  #countOf(network: string): number {
    const known = this.#counts.get(network)
    if (!known) return 0
    return Math.max(0, known.count - ((performance.now() - known.at) / 1000) * this.#limit.perSecond)
  }
}

/**
 * Whether the request shows no credentials outside of its body, as those who serve it look for them: what they ignore, such as a header that is
 * malformed or meant for others, must not exempt from the limit. `route` is the pattern of the router.
 */
export function isAnonymous({ headers, url = '' }: IncomingMessage, route: string | undefined): boolean {
  if (isForGit(route) && !uploadAddress(url)) return headers.authorization === undefined
  return (shownToken(headers, {}) ?? shownToken({}, queryOf(url))) === undefined
}

/** Of git, large files and images, whose clients send `Authorization` only: any other than that of an account is refused. */
const isForGit = (route = ''): boolean => route === '/*' || route.startsWith('/v2') || route.startsWith('/jwt')

function queryOf(url: string): RawParams {
  if (!url.includes('?')) return {}
  try {
    return parseUrlencoded(splitTarget(url).query ?? '')
  } catch {
    // The request is refused as malformed.
    return {}
  }
}
