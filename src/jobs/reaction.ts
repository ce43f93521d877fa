import type { Static, TObject } from 'typebox'
import type { EventName, NewEvent } from '../events/catalogue.ts'
import type { Reaction } from '../events/reaction.ts'
import { enqueue, type Job } from './job.ts'

/**
 * A reaction that enqueues a job in the transaction of the event, to run after `delayMs`. Enqueues nothing if `inputOf` returns
 * `undefined`.
 */
export const queues =
  <K extends EventName, I extends TObject>(
    job: Job<I>,
    inputOf: (event: NewEvent<K>) => Static<I> | undefined,
    delayMs = 0,
  ): Reaction<K> =>
  async (tx, event) => {
    const input = inputOf(event)
    if (input !== undefined) await enqueue(tx, job, input, delayMs)
  }
