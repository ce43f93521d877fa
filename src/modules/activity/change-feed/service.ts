import { setTimeout as pause } from 'node:timers/promises'
import type { Actor } from '../../../access/actor.ts'
import { lowestOpen } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type Event, type Position, readEvents } from '../../../events/log.ts'
import { Failure } from '../../../kernel/failure.ts'
import { authenticateDerived, credentialOf } from '../../accounts/index.ts'
import { cursorOf } from './cursor.ts'
import { type FoundKind, readablePlaces } from './queries.ts'
import { type PlaceKind, placeKinds, type Readers, type Target, targetOf } from './targets.ts'

/** An event that the caller may read. */
export type Change = { readonly event: Event; readonly target: Target }

export type Changes = {
  readonly changes: readonly Change[]
  /** Where the next read continues. */
  readonly next: Position
  /** Whether there may be more now. */
  readonly hasMore: boolean
}

const readAtOnce = 500
/** Events that a request reads at most, however few of them the caller may see. */
const maxRead = 5000

/**
 * The next events after a position that the caller may read now, at most `limit`, in the order of their commits. Two statements for
 * each 500 events of the log.
 */
export async function readChanges(ctx: Ctx, after: Position, limit: number): Promise<Changes> {
  const changes: Change[] = []
  let next = after
  for (let read = 0; read < maxRead; read += readAtOnce) {
    const events = await readEvents(ctx.db, next, readAtOnce)
    const found = await readable(ctx, events)
    const room = limit - changes.length
    if (found.length > room) {
      changes.push(...found.slice(0, room))
      return { changes, next: changes.at(-1)!.event.position, hasMore: true }
    }
    changes.push(...found)
    next = events.at(-1)?.position ?? next
    if (events.length < readAtOnce) return { changes, next, hasMore: false }
  }
  return { changes, next, hasMore: true }
}

async function readable(ctx: Ctx, events: readonly Event[]): Promise<readonly Change[]> {
  const about = events.flatMap((event): Change[] => {
    const target = targetOf(event)
    return target ? [{ event, target }] : []
  })
  if (about.length === 0) return []
  return mayRead(ctx, about)
}

/** Those of the changes that the caller may read now. */
async function mayRead(ctx: Ctx, about: readonly Change[]): Promise<readonly Change[]> {
  const caller = ctx.actor!
  const readers = about.map(({ target }) => target.readers)
  const idsOf = (kind: PlaceKind) => [...new Set(readers.flatMap((each) => (each.of === kind ? [each.id] : [])))]
  const namespaces = readers.flatMap((each) =>
    each.of === 'Gone' && each.namespaceId !== null ? [each.namespaceId] : [],
  )
  const ids = Object.fromEntries(placeKinds.map((kind) => [kind, idsOf(kind)])) as Record<PlaceKind, number[]>
  const isReadable = await readablePlaces(ctx.db, caller, { ...ids, Namespace: [...new Set(namespaces)] })
  return about.filter(({ target: { readers } }) => {
    switch (readers.of) {
      case 'Account':
        return caller.admin || caller.id === readers.id
      case 'Gone':
        return couldSee(caller, readers, isReadable)
      default:
        return isReadable(readers.of, readers.id)
    }
  })
}

/**
 * Whether the caller may see where a deleted project or group was, and could see it there: it was open to them, or they are a member of
 * the group above. Whose membership was of itself only is not known any more, except who deleted it.
 */
function couldSee(
  caller: Actor,
  { namespaceId, visibility, actorId }: Extract<Readers, { of: 'Gone' }>,
  isReadable: (kind: FoundKind, id: number) => boolean,
): boolean {
  if (caller.admin || actorId === caller.id) return true
  if (namespaceId !== null && isReadable('OwnNamespace', namespaceId)) return true
  const isOpen = visibility >= lowestOpen(caller)
  return isOpen && (namespaceId === null || isReadable('SeenNamespace', namespaceId))
}

/** Streams of each user in this process. */
const streams = new Map<number, number>()
const maxStreams = 5

/** The client continues by itself. */
const streamMs = 30_000
const pollMs = 1000
const atOnce = 100

/**
 * Server-sent events after a position: `id` is the cursor, `event` the kind, `data` the record. Ends after half a minute, and
 * once the caller may not act any more. Throws `rate_limited` if the user has too many.
 */
export function streamChanges(ctx: Ctx, after: Position, present: (change: Change) => object): AsyncIterable<string> {
  const user = ctx.actor!.id
  const count = streams.get(user) ?? 0
  if (count >= maxStreams)
    throw new Failure('rate_limited', 'Too many streams of events are open', { retryAfterSeconds: streamMs / 1000 })
  streams.set(user, count + 1)
  return ended(frames(ctx, after, present), () => {
    const left = streams.get(user)! - 1
    if (left > 0) streams.set(user, left)
    else streams.delete(user)
  })
}

/** Runs `end` once when the frames end, also if they were never read. */
function ended(source: AsyncGenerator<string>, end: () => void): AsyncIterable<string> & AsyncIterator<string> {
  let hasEnded = false
  const once = () => {
    if (!hasEnded) end()
    hasEnded = true
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      try {
        const result = await source.next()
        if (result.done) once()
        return result
      } catch (error) {
        once()
        throw error
      }
    },
    async return() {
      once()
      return source.return(undefined)
    },
  }
}

/** With the caller as account and token are now; undefined if they may not act any more. */
async function asNow(ctx: Ctx): Promise<Ctx | undefined> {
  const found = await authenticateDerived(ctx.db, credentialOf(ctx.actor!), ctx)
  return 'actor' in found ? { ...ctx, actor: found.actor } : undefined
}

async function* frames(ctx: Ctx, after: Position, present: (change: Change) => object): AsyncGenerator<string> {
  const began = performance.now()
  yield 'retry: 1000\n\n'
  let position = after
  do {
    const now = await asNow(ctx)
    if (!now) return
    const { changes, next, hasMore } = await readChanges(now, position, atOnce)
    const shown = changes.map((change) => {
      const { kind, position } = change.event
      return `id: ${cursorOf(position)}\nevent: ${kind}\ndata: ${JSON.stringify(present(change))}\n\n`
    })
    // An id without data moves the position of the client; a comment shows that the stream is alive.
    yield `${shown.join('')}id: ${cursorOf(next)}\n: next\n\n`
    position = next
    if (!hasMore && ctx.eventSource) await pause(pollMs, undefined, ctx.signal ? { signal: ctx.signal } : {})
  } while (ctx.eventSource && performance.now() - began < streamMs)
}
