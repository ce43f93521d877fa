import { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import { endpoint, listed, raw } from '../../../api/endpoint.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import type { Position } from '../../../events/log.ts'
import { instance } from '../../instance/index.ts'
import { cursorOf, positionOf } from './cursor.ts'
import { ChangeEvent, presentChange } from './entity.ts'
import { endOfLog } from './queries.ts'
import { readChanges, streamChanges } from './service.ts'

const after = Optional(
  Text({ description: 'Cursor of the last event that was read; default: events from now on', maxLength: 40 }),
)

/** The position that a cursor names; without one, the end of the log. */
async function startOf(ctx: Ctx, cursor: string | undefined): Promise<Position> {
  if (cursor === undefined || cursor === '') return { txid: await endOfLog(ctx.db), id: 0 }
  const position = positionOf(cursor)
  if (!position) throw new ParameterError('after is invalid')
  return position
}

export const changeFeedRoutes = [
  endpoint({
    method: 'GET',
    path: '/events/changes',
    summary: 'List changes after a cursor',
    description:
      'Events of projects, repositories, groups, members, issues, merge requests and their notes, deletions included, in the order of their commits, without gaps, as far as the caller may read them now. Events of accounts are for administrators and the account itself. What was deleted is shown to those who may read where it was and could see it there. The header `X-Next-Cursor` continues, also where no event is visible. Cursors are valid as long as events are stored (`event_retention_days`).',
    subject: instance,
    allow: 'use',
    params: Params({
      after,
      limit: Whole({ default: 100, minimum: 1, maximum: 500, description: 'Maximum number of events' }),
    }),
    headers: { 'X-Next-Cursor': 'Cursor for the next request', 'X-Has-More': '`true` if there may be more events now' },
    returns: listed(ChangeEvent),
    async handle({ params, ctx, reply }) {
      const { changes, next, hasMore } = await readChanges(ctx, await startOf(ctx, params.after), params.limit)
      reply.header('x-next-cursor', cursorOf(next))
      reply.header('x-has-more', String(hasMore))
      return changes
    },
  }),

  endpoint({
    method: 'GET',
    path: '/events/stream',
    summary: 'Follow changes as a stream',
    description:
      'Server-sent events: the same events as `/events/changes`, as they happen. A stream ends after half a minute, and at once without `Accept: text/event-stream`; a browser continues by itself with `Last-Event-ID`, other clients with `after`. At most five streams for each user and process.',
    subject: instance,
    allow: 'use',
    params: Params({ after }),
    returns: raw('text/event-stream'),
    async handle({ params, ctx, reply, head }) {
      const start = await startOf(ctx, params.after ?? ctx.eventSource?.lastEventId)
      reply.header('cache-control', 'no-cache')
      // For proxies that would collect the answer.
      reply.header('x-accel-buffering', 'no')
      const contentType = 'text/event-stream'
      if (head) return { body: Readable.from([]), contentType }
      return { body: Readable.from(streamChanges(ctx, start, presentChange), { objectMode: false }), contentType }
    },
  }),
]
