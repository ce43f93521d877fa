import type { Ctx } from '../../../api/ctx.ts'
import { OutboundFailure } from '../../instance/index.ts'
import { chatBody } from '../chat/templates.ts'
import type { Trigger } from '../hooks/triggers.ts'
import { buildPayload } from '../payloads/build.ts'
import { mailsOf } from '../service-mails/mails.ts'
import { areMailsDisabled } from '../service-mails/queries.ts'
import { isChat, type ServiceFlag } from '../services/kinds.ts'
import { confidentialIssues, messagesOf } from './messages.ts'
import { type DueRow, eventOf, type Result } from './queue-queries.ts'
import { aloneAfter, type HookTimes, maxAttempts, pauseAfter, pauseMs, retryMs } from './schedule.ts'
import { send } from './send.ts'

/** Payloads by event and part: hooks of the same event share one. */
export type PayloadCache = {
  get(key: string): Promise<string | undefined> | undefined
  set(key: string, payload: Promise<string | undefined>): void
  forget(key: string): void
}

export type DeliverOptions = {
  readonly times: HookTimes
  readonly payloads: PayloadCache
  readonly signal: AbortSignal
}

/** Maximum size of what is sent: a sender has many at once, and every attempt would build it again. */
const maxBytes = 8 * 1024 * 1024

const noResponse = {
  response_status: null,
  response_headers: null,
  response_body: null,
  duration_ms: null,
  error: null,
  pause_ms: 0,
  delay_ms: 0,
  sent: false,
  alone: false,
} as const

/**
 * The flag for which the hook receives the event now, if any: an issue may have become confidential since it was queued, the project may
 * have left the group of the hook, and the hook may have lost the flag.
 */
async function currentTrigger(ctx: Ctx, due: DueRow): Promise<Trigger | undefined> {
  const queued = due.trigger as Trigger
  if (!due.reaches) return undefined
  // A test is for the hook whatever its flags are.
  if (due.facts['test'] === true) return queued
  const event = eventOf(due)
  const isOpen = queued === 'issues_events' || queued === 'note_events'
  const now = isOpen ? (await messagesOf(ctx, event, await confidentialIssues(ctx, [event])))[0]?.trigger : queued
  return now !== undefined && due.triggers.includes(now) ? now : undefined
}

const payloadOf = (ctx: Ctx, due: DueRow, trigger: Trigger, cache: PayloadCache): Promise<string | undefined> => {
  const key = `${due.id} ${trigger} ${due.part}`
  const held = cache.get(key)
  if (held) return held
  const built = buildPayload(ctx, { event: eventOf(due), trigger, part: due.part })
  cache.set(key, built)
  built.catch(() => cache.forget(key))
  return built
}

/** Makes one attempt of a delivery. Rejects only if the service itself fails. */
export async function deliver(ctx: Ctx, due: DueRow, options: DeliverOptions): Promise<Result> {
  const { times, payloads, signal } = options
  const base = {
    id: due.delivery_id,
    hook_id: due.hook_id,
    attempts: due.attempts,
    ...noResponse,
    alone: due.failures >= aloneAfter,
  }
  const trigger = await currentTrigger(ctx, due)
  if (trigger === undefined) return { ...base, state: 'dropped', error: 'The hook may no longer receive this event' }
  const payload = await payloadOf(ctx, due, trigger, payloads)
  if (payload === undefined) return { ...base, state: 'dropped', error: 'What the event is about was deleted' }
  const { service, properties } = due
  if (service !== null && !isChat(service)) {
    if (await areMailsDisabled(ctx.db, due.project_id))
      return { ...base, state: 'dropped', error: 'A group above the project disabled mails' }
    const mails = await mailsOf(ctx, service, properties!, payload)
    return { ...base, state: 'delivered', attempts: due.attempts + 1, sent: true, mails }
  }
  const body = service === null ? payload : chatBody(service, properties!, trigger as ServiceFlag, payload)
  if (Buffer.byteLength(body) > maxBytes)
    return { ...base, state: 'failed', attempts: due.attempts + 1, error: 'The payload is larger than 8 MiB' }
  const began = performance.now()
  const took = () => Math.round(performance.now() - began)
  try {
    const {
      status,
      headers,
      body: text,
    } = await send(ctx, { ...due, trigger }, body, { timeoutMs: times.request, signal })
    const attempts = due.attempts + 1
    const response = { response_status: status, response_headers: headers, response_body: text, duration_ms: took() }
    if (status >= 200 && status < 300) return { ...base, ...response, state: 'delivered', attempts, sent: true }
    return { ...base, ...response, ...failed(due, times, `The receiver answered with ${status}`) }
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    // The service stops: the attempt does not count.
    if (signal.aborted) return { ...base, state: 'pending' }
    return { ...base, duration_ms: took(), ...failed(due, times, error.message) }
  }
}

/**
 * A failed attempt. Those of a paused hook do not count against the delivery, which waits as long as the receiver does not answer; it
 * is given up if the receiver accepts others meanwhile.
 */
function failed(due: DueRow, times: HookTimes, error: string) {
  const failures = due.failures + 1
  const isPaused = due.failures >= pauseAfter
  const attempts = isPaused ? due.attempts : due.attempts + 1
  const pause_ms = pauseMs(times, failures)
  const over = attempts >= maxAttempts && !isPaused
  return {
    state: over ? 'failed' : 'pending',
    attempts,
    delay_ms: isPaused ? 0 : retryMs(times, Math.max(attempts, 1)),
    pause_ms,
    sent: true,
    error,
  } as const
}
