import type { IncomingHttpHeaders } from 'node:http'
import { SharedSlots } from '../../../kernel/shares.ts'

/** Bodies that say they are no longer than this are read at once. */
const smallBytes = 256 * 1024

/** Large bodies that one process holds in memory at a time, of 8 MiB each for most endpoints, and those that wait. */
const slots = 12
const maxWaiting = 300

/** Multipart forms of one process, of up to 64 MiB of text in memory and ten files on disk each. */
const formSlots = 24

/**
 * Shares of a process's memory for bodies: what is large waits, unread, while its caller has as many in memory as its share
 * allows. Multipart forms have a pool of their own, because they carry files, which take long to come.
 */
export class LargeBodies {
  readonly #slots = new SharedSlots('the memory for large bodies', { slots, maxWaiting })
  readonly #forms = new SharedSlots('room for uploads', { slots: formSlots, maxWaiting })

  /** Resolves, when there is room for the body, with what is to be called when nothing holds it any more. */
  async enter(headers: IncomingHttpHeaders, caller: string, gone: AbortSignal): Promise<() => void> {
    const isSmall = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= smallBytes
    if (isSmall) return () => {}
    const isForm = /^\s*multipart\//i.test(headers['content-type'] ?? '')
    return (isForm ? this.#forms : this.#slots).enter(caller, gone)
  }
}
