import type { HookedEvent } from '../hook-events/rules.ts'
import type { Trigger } from '../hooks/triggers.ts'
import type { PayloadCtx } from './shown.ts'

/** An event as recorded for hooks. */
export type RecordedEvent = {
  readonly id: number
  readonly uuid: string
  readonly kind: HookedEvent
  readonly project_id: number | null
  readonly group_id: number | null
  readonly actor_id: number | null
  readonly payload: Readonly<Record<string, unknown>>
  readonly facts: Readonly<Record<string, unknown>>
  /** In the format of payloads. */
  readonly happened_at: string
}

/** What is built for a hook: the event, and which part of it. */
export type Source = { readonly event: RecordedEvent; readonly trigger: Trigger; readonly part: number }

/** A payload, or undefined if what the event is about is gone and was not recorded. */
export type Builder = (ctx: PayloadCtx, source: Source) => Promise<object | undefined>

export const idIn = (fields: Readonly<Record<string, unknown>>, name: string): number => {
  const value = fields[name]
  return typeof value === 'number' ? value : 0
}

export const textIn = (fields: Readonly<Record<string, unknown>>, name: string): string | null => {
  const value = fields[name]
  return typeof value === 'string' ? value : null
}
