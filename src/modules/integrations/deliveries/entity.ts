import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { SystemHook } from '../hooks/entity.ts'
import type { HookRow } from '../hooks/queries.ts'
import { type DeliveryRow, states } from './log-queries.ts'
import { deliveryKey, eventId } from './send.ts'

/** An event sent to a hook, or waiting to be sent. */
export const HookEvent = entity({
  name: 'HookEvent',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the delivery' }),
    event_uuid: Type.String({
      description: 'ID of the event; the same for all hooks that receive it. Each branch and tag of a push is an event',
    }),
    idempotency_key: Type.String({ description: 'Header of every attempt, the same when the event is sent again' }),
    trigger: Type.String({ description: 'Flag of the hook because of which it receives the event' }),
    url: Type.String({ description: 'Receiver, with asterisks for user name and password' }),
    state: Type.String({
      enum: [...states],
      description:
        '`failed`: given up after a day; `dropped`: not sent, because what the event is about was deleted, the hook may no longer receive it, or mails are disabled',
    }),
    attempts: Type.Integer({ description: 'Number of requests' }),
    created_at: timestamp('Time at which the event was queued'),
    attempted_at: nullable(timestamp(), { description: 'Time of the last attempt' }),
    finished_at: nullable(timestamp(), { description: 'Time since which it is not sent again' }),
    next_attempt_at: nullable(timestamp(), { description: 'Time of the next attempt at the earliest' }),
    response_status: nullable(Type.Integer(), { description: 'Status of the last response; null without one' }),
    response_headers: nullable(Type.Record(Type.String(), Type.String()), {
      description: 'Headers of the last response, without cookies',
    }),
    response_body: nullable(Type.String(), { description: 'First KB of the last response' }),
    execution_duration: nullable(Type.Number(), { description: 'Duration of the last attempt in seconds' }),
    error: nullable(Type.String(), { description: 'Why the last attempt failed' }),
  }),
  present: ({ uuid, hook_id, part, next_at, duration_ms, ...delivery }: DeliveryRow) => ({
    ...delivery,
    event_uuid: eventId({ uuid, part }),
    idempotency_key: deliveryKey({ uuid, part, hook_id }),
    next_attempt_at: next_at,
    execution_duration: duration_ms === null ? null : duration_ms / 1000,
  }),
})

/** The result of a replay. */
export const HookReplay = entity({
  name: 'HookReplay',
  schema: Type.Object({ queued: Type.Integer({ description: 'Number of deliveries that are sent again' }) }),
  present: (row: { queued: number }) => row,
})

type TestEvent = {
  event_name: string
  name: string
  path: string
  project_id: number
  owner_name: string
  owner_email: string
}

/** The event that tests a system hook. */
export const SystemHookTest = entity({
  name: 'SystemHookTest',
  schema: Type.Object({
    event_name: Type.String({ description: 'Kind of the event that was sent, always `project_create`' }),
    name: Type.String({ description: 'Name of a project that does not exist' }),
    path: Type.String({ description: 'Last part of the URL of that project' }),
    project_id: Type.Integer({ description: 'ID of that project' }),
    owner_name: Type.String({ description: 'Name of its owner' }),
    owner_email: Type.String({ description: 'Address of its owner' }),
  }),
  present: (row: TestEvent) => row,
})

/** A system hook, and the event that tests it. Their fields have different names. */
export const TestedSystemHook = entity({
  name: 'TestedSystemHook',
  schema: Type.Object({ ...SystemHook.schema.properties, ...SystemHookTest.schema.properties }),
  present: ({ hook, event }: { hook: HookRow; event: TestEvent }, ctx) => ({
    ...SystemHook.present(hook, ctx, undefined),
    ...event,
  }),
})
