import type { IncomingHttpHeaders } from 'node:http'
import { SharedSlots } from '../../../kernel/shares.ts'

/** Bodies with a `Content-Length` up to this are read at once. */
const smallBytes = 256 * 1024

/** Maximum large bodies in memory per process, each up to 8 MiB for most endpoints, and maximum waiting ones. */
const slots = 12
const maxWaiting = 300

/** Maximum multipart forms per process, each with up to 64 MiB of text in memory and ten files on disk. */
const formSlots = 24

/**
 * Shares of a process's memory for request bodies: a large body waits, unread, while its caller holds a full share. Multipart
 * forms have their own pool, because uploads take long.
 */
export class LargeBodies {
  readonly #slots = new SharedSlots('the memory for large bodies', { slots, maxWaiting })
  readonly #forms = new SharedSlots('room for uploads', { slots: formSlots, maxWaiting })

  /** Resolves with the release function when there is room for the body. */
  async enter(headers: IncomingHttpHeaders, caller: string, signal: AbortSignal): Promise<() => void> {
    const isSmall = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= smallBytes
    if (isSmall) return () => {}
    const isForm = /^\s*multipart\//i.test(headers['content-type'] ?? '')
    return (isForm ? this.#forms : this.#slots).enter(caller, signal)
  }
}
