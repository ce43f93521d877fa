import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Id, Nullable, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { instance } from '../../instance/index.ts'
import { type BroadcastMessageRow, broadcastMessageRow, broadcastMessages, broadcastTypes } from './queries.ts'
import { createBroadcastMessage, editBroadcastMessage, getBroadcastMessage, removeBroadcastMessage } from './service.ts'

const BroadcastMessage = entity({
  name: 'BroadcastMessage',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the message' }),
    message: Type.String({ description: 'Text of the message' }),
    starts_at: timestamp('Time from which the message is shown'),
    ends_at: timestamp('Time until which the message is shown'),
    color: Type.String({ description: 'Background color, `#RRGGBB`' }),
    font: Type.String({ description: 'Text color, `#RRGGBB`' }),
    target_path: nullable(Type.String(), {
      description: 'Path of the pages that show it, `*` matches any text; null for all pages',
    }),
    broadcast_type: Type.String({
      description: 'Place of the message: banner at the top, or notification in the corner',
      enum: [...broadcastTypes],
    }),
    dismissable: Type.Boolean({ description: 'True if users can dismiss the message' }),
    active: Type.Boolean({ description: 'True between start and end' }),
  }),
  present: (row: BroadcastMessageRow) => ({
    id: row.id,
    message: row.message,
    starts_at: row.starts_at,
    ends_at: row.ends_at,
    color: row.color,
    font: row.font,
    target_path: row.target_path,
    broadcast_type: row.broadcast_type,
    dismissable: row.dismissable,
    active: row.active,
  }),
})

const messageId = { id: Id({ description: 'ID of the message' }) }

const attributes = {
  starts_at: Optional(Timestamp({ description: 'Start time; default: now' })),
  ends_at: Optional(Timestamp({ description: 'End time; default: one hour later' })),
  color: Optional(Text({ description: 'Background color: #rgb or #rrggbb' })),
  font: Optional(Text({ description: 'Text color: #rgb or #rrggbb' })),
  target_path: Optional(
    Nullable(Text({ description: 'Paths on which it is shown, `*` matches any text; default: all' })),
  ),
  broadcast_type: Optional(OneOf(broadcastTypes, { description: 'Type of the message; default: banner' })),
  dismissable: Optional(Flag({ description: 'Users may dismiss it' })),
}

/** Every caller may read them, because every visitor sees them. */
export const broadcastMessageRoutes = [
  endpoint({
    method: 'GET',
    path: '/broadcast_messages',
    summary: 'List broadcast messages',
    description: 'Newest first.',
    subject: instance,
    allow: 'browse',
    paged: true,
    returns: BroadcastMessage,
    handle: ({ page, ctx }) => fetchPage(ctx.db, broadcastMessageRow, broadcastMessages, page),
  }),

  endpoint({
    method: 'GET',
    path: '/broadcast_messages/:id',
    summary: 'Get a broadcast message',
    subject: instance,
    allow: 'browse',
    params: Params(messageId),
    returns: BroadcastMessage,
    handle: ({ params, ctx }) => getBroadcastMessage(ctx, params.id),
  }),

  endpoint({
    method: 'POST',
    path: '/broadcast_messages',
    summary: 'Create a broadcast message',
    subject: instance,
    allow: 'administer',
    params: Params({ message: Text({ description: 'Text of the message in Markdown' }), ...attributes }),
    returns: BroadcastMessage,
    handle: ({ params, ctx }) => createBroadcastMessage(ctx, params),
  }),

  endpoint({
    method: 'PUT',
    path: '/broadcast_messages/:id',
    summary: 'Update a broadcast message',
    subject: instance,
    allow: 'administer',
    params: Params({
      ...messageId,
      message: Optional(Text({ description: 'Text of the message in Markdown' })),
      ...attributes,
    }),
    returns: BroadcastMessage,
    handle: ({ params: { id, ...input }, ctx }) => editBroadcastMessage(ctx, id, input),
  }),

  endpoint({
    method: 'DELETE',
    path: '/broadcast_messages/:id',
    summary: 'Delete a broadcast message',
    subject: instance,
    allow: 'administer',
    params: Params(messageId),
    returns: null,
    handle: ({ params, ctx }) => removeBroadcastMessage(ctx, params.id),
  }),
]
