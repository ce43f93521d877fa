import type { Caller } from '../../../access/actor.ts'
import { endpoint, unchanged } from '../../../api/endpoint.ts'
import type { List } from '../../../api/list.ts'
import { fetchPage } from '../../../api/page.ts'
import { UserListItem } from '../users/entity.ts'
import { userReferenceRow } from '../users/queries.ts'
import { isPrivateTo, user } from '../users/subject.ts'
import { deleteFollow, followedBy, followersOf, insertFollow } from './queries.ts'

/** `change` returns whether it changed anything. */
const following = (verb: 'follow' | 'unfollow', summary: string, already: string, change: typeof insertFollow) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${verb}`,
    summary,
    subject: user,
    allow: 'follow_user',
    unchanged: already,
    returns: UserListItem,
    async handle({ subject, ctx }) {
      const followerId = ctx.actor!.id
      if (followerId === subject.id) return unchanged
      return (await ctx.transaction((tx) => change(tx, followerId, subject.id))) ? subject : unchanged
    },
  })

const people = (list: 'followers' | 'following', summary: string, listed: (caller: Caller, userId: number) => List) =>
  endpoint({
    method: 'GET',
    path: `/users/:id/${list}`,
    summary,
    description: 'The list of a private profile is empty, except for the user and administrators.',
    scopes: ['read_user'],
    subject: user,
    allow: 'read_user',
    paged: true,
    returns: UserListItem,
    async handle({ subject, page, ctx }) {
      if (isPrivateTo(ctx, subject)) return { rows: [], total: 0, hasNext: false }
      return fetchPage(ctx.db, userReferenceRow, listed(ctx.actor, subject.id), page)
    },
  })

export const followRoutes = [
  following('follow', 'Follow a user', 'The caller already follows the user or is the user', insertFollow),
  following('unfollow', 'Unfollow a user', 'The caller does not follow the user', deleteFollow),
  people('followers', 'List followers of a user', followersOf),
  people('following', 'List users a user follows', followedBy),
]
