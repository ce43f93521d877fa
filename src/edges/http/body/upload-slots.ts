import { SharedSlots } from '../../../kernel/shares.ts'

/** Bodies up to this size do not wait for larger ones, which take long. */
const smallBytes = 256 * 1024

/**
 * Limits the uploads of one kind that a process writes to files at a time. Each has an open file and its buffers for as long as the
 * client takes to send the rest. No single caller can take all slots.
 */
export class UploadSlots {
  readonly #large = new SharedSlots('room for uploads', { slots: 24, maxWaiting: 300 })
  readonly #small = new SharedSlots('room for uploads', { slots: 120, maxWaiting: 4000 })

  /** Resolves with the release function when there is room for the body; `bytes` is NaN if the client does not say. */
  enter(bytes: number, caller: string, signal: AbortSignal): Promise<() => void> {
    return (bytes <= smallBytes ? this.#small : this.#large).enter(caller, signal)
  }
}
