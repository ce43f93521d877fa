import { setTimeout as pause } from 'node:timers/promises'
import type { Ctx } from '../../../api/ctx.ts'
import { type Event, type Position, readEvents } from '../../../events/log.ts'
import { Failure } from '../../../kernel/failure.ts'
import { cursorOf } from './cursor.ts'
import { readableTargets } from './queries.ts'
import { type Target, targetOf } from './targets.ts'

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
  const idsOf = (type: Target['type']) => [
    ...new Set(
      about.flatMap(({ target: { on, ...target } }) => ((on ?? target).type === type ? (on ?? target).id : [])),
    ),
  ]
  const seen = await readableTargets(ctx.db, ctx.actor, {
    projects: idsOf('Project'),
    repositories: idsOf('Repository'),
    issues: idsOf('Issue'),
    mergeRequests: idsOf('MergeRequest'),
  })
  const sets: Record<Exclude<Target['type'], 'Note'>, ReadonlySet<number>> = {
    Project: new Set(seen.projects),
    Repository: new Set(seen.repositories),
    Issue: new Set(seen.issues),
    MergeRequest: new Set(seen.mergeRequests),
  }
  return about.filter(({ target: { on, type, id } }) =>
    on ? sets[on.type].has(on.id) : type !== 'Note' && sets[type].has(id),
  )
}

/** Streams of each user in this process. */
const streams = new Map<number, number>()
const maxStreams = 5

/** A stream ends so that the client, which continues by itself, is authenticated again. */
const streamMs = 30_000
const pollMs = 1000
const atOnce = 100

/**
 * Server-sent events after a position: `id` is the cursor, `event` the kind, `data` the record. Ends after half a minute. Throws
 * `rate_limited` if the user has too many.
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

async function* frames(ctx: Ctx, after: Position, present: (change: Change) => object): AsyncGenerator<string> {
  const began = performance.now()
  yield 'retry: 1000\n\n'
  let position = after
  do {
    const { changes, next, hasMore } = await readChanges(ctx, position, atOnce)
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
