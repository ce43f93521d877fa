import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { PushedRefs } from '../../../events/catalogue.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { FeedRow } from './queries.ts'

const PushData = Type.Object(
  {
    commit_count: Type.Integer({ description: 'Number of new commits, at most 10,000' }),
    action: Type.String({ enum: ['created', 'pushed', 'removed'] }),
    ref_type: Type.String({ enum: ['branch', 'tag'] }),
    commit_from: nullable(Type.String()),
    commit_to: nullable(Type.String()),
    ref: nullable(Type.String()),
    commit_title: nullable(Type.String({ description: 'Title of the newest commit, at most 70 characters' })),
    ref_count: nullable(Type.Integer({ description: 'Number of refs of a push of many refs, which are not listed' })),
  },
  { description: 'Details of a push; absent for other events' },
)

/** How clients name what was done. */
const actionNames: Readonly<Record<Exclude<FeedRow['action'], 'pushed' | 'created'>, string>> = {
  updated: 'updated',
  closed: 'closed',
  reopened: 'reopened',
  commented: 'commented on',
  merged: 'accepted',
  joined: 'joined',
  left: 'left',
  destroyed: 'destroyed',
  expired: 'removed due to membership expiration from',
}

const pushNames: Readonly<Record<PushedRefs['action'], string>> = {
  created: 'pushed new',
  pushed: 'pushed to',
  removed: 'deleted',
}

function actionName({ action, push, target_type }: FeedRow): string {
  if (push) return pushNames[push.action]
  // Of a project `created`; issues and the like are opened.
  if (action === 'created' || action === 'pushed') return target_type === null ? 'created' : 'opened'
  return actionNames[action]
}

export const Event = entity({
  name: 'Event',
  schema: Type.Object({
    id: Type.Integer(),
    project_id: Type.Integer(),
    action_name: Type.String({ description: 'Action: pushed to, pushed new, deleted, created, opened, joined, …' }),
    target_id: nullable(Type.Integer()),
    target_iid: nullable(Type.Integer()),
    target_type: nullable(Type.String({ description: 'Null for projects, memberships and pushes' })),
    author_id: Type.Integer(),
    author: UserReferenceSchema,
    author_username: Type.String(),
    target_title: nullable(Type.String()),
    created_at: timestamp(),
    push_data: Type.Optional(PushData),
  }),
  present: (row: FeedRow, ctx) => ({
    id: row.id,
    project_id: row.project_id,
    action_name: actionName(row),
    target_id: row.target_id,
    target_iid: row.target_iid,
    target_type: row.target_type,
    author_id: row.author.id,
    author: userReference(row.author, ctx),
    author_username: row.author.username,
    target_title: row.target_title,
    created_at: row.created_at,
    ...(row.push && { push_data: row.push }),
  }),
})
