import type { IncomingHttpHeaders } from 'node:http'
import { SharedSlots } from '../../../kernel/shares.ts'

/** Bodies that say they are no longer than this are read at once. */
const smallBytes = 256 * 1024

/** Large bodies that one process holds in memory at a time, of 8 MiB each for most endpoints, and those that wait. */
const slots = 12
const maxWaiting = 300

/**
 * Shares of a process's memory for bodies: what is large waits, unread, while its caller has as many in memory as its share
 * allows. Files of multipart forms go to disk as they come and do not count.
 */
export class LargeBodies {
  readonly #slots = new SharedSlots('the memory for large bodies', { slots, maxWaiting })

  /** Resolves, when there is room for the body, with what is to be called when nothing holds it any more. */
  async enter(headers: IncomingHttpHeaders, caller: string, gone: AbortSignal): Promise<() => void> {
    const isSmall = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= smallBytes
    if (isSmall || /^multipart\//i.test(headers['content-type'] ?? '')) return () => {}
    return this.#slots.enter(caller, gone)
  }
}
