import { createHash, createHmac } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import { type OutboundResponse, productVersion, sendOutbound } from '../../instance/index.ts'
import { addressRules } from '../hooks/address.ts'
import { tokenPurpose, urlPurpose } from '../hooks/purpose.ts'
import { eventNames, type Flag, systemEventName, type Trigger } from '../hooks/triggers.ts'
import type { DueRow } from './queue-queries.ts'

type Part = Pick<DueRow, 'uuid' | 'part'>

/** A UUID (version 8) of a text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

/**
 * The id of an event as receivers see it, the same for all hooks. Each branch and tag of a push is an event of its own, as is the push as a
 * whole: receivers drop what has an id that they know.
 */
export const eventId = ({ uuid, part }: Part): string => (part === 0 ? uuid : uuidOf(`${uuid} ${part}`))

/** The id of a delivery: the same for every attempt, and when it is sent again on request. */
export const deliveryKey = ({ uuid, part, hook_id }: Part & Pick<DueRow, 'hook_id'>): string =>
  uuidOf(`${uuid} ${part} ${hook_id}`)

/** The id of a hook as receivers see it: the same for all of its requests. Ids of hooks of other installations are equal, but not their times. */
const hookUuid = ({ hook_id, hook_created_at }: Pick<DueRow, 'hook_id' | 'hook_created_at'>): string =>
  uuidOf(`hook ${hook_id} ${hook_created_at}`)

/** Compat: receivers read `X-Gitlab-*`; the API documents name `X-Service-*`. */
const bothNames = (name: string, value: string): Record<string, string> => ({
  [`X-Service-${name}`]: value,
  [`X-Gitlab-${name}`]: value,
})

/** `sha256=` and the HMAC of the body with the token as the key. */
export const signatureOf = (token: string, body: string): string =>
  `sha256=${createHmac('sha256', token).update(body).digest('hex')}`

/** Sends a body to the hook or chat of a delivery. Throws `OutboundFailure` without a response. */
export async function send(
  ctx: Ctx,
  due: DueRow,
  body: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<OutboundResponse> {
  const token = due.sealed_token === null ? undefined : ctx.secrets.open(due.sealed_token, tokenPurpose(due.hook_id))
  const event = due.is_system ? systemEventName : eventNames[due.trigger as Exclude<Trigger, 'system_events'> & Flag]
  return sendOutbound(ctx, {
    url: ctx.secrets.open(due.sealed_url!, urlPurpose(due.hook_id)),
    rules: addressRules(due.is_system ? 'system' : 'project'),
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': `Stithy/${productVersion}`,
      'Idempotency-Key': deliveryKey(due),
      ...(due.service === null && {
        ...bothNames('Event', event),
        ...bothNames('Event-UUID', eventId(due)),
        ...bothNames('Webhook-UUID', hookUuid(due)),
        ...bothNames('Instance', ctx.site.url),
      }),
    },
    secretHeaders: token
      ? {
          ...bothNames('Token', token),
          ...bothNames('Signature-256', signatureOf(token, body)),
          'X-Hub-Signature-256': signatureOf(token, body),
        }
      : {},
    body,
    verifiesTls: due.verifies_tls,
    timeoutMs,
    signal,
  })
}
