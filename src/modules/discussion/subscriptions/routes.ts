import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { endpoint, unchanged } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { Params } from '../../../api/params/types.ts'
import { UserListItem, userReferenceRow } from '../../accounts/index.ts'
import { assignedTables } from '../noteables/kinds.ts'
import { type DiscussedSubject, withArticle } from '../noteables/noteable.ts'
import { findSubscribed, participantsOf, saveSubscription } from './queries.ts'

/** How an endpoint returns the noteable. */
type Shown<T, A extends string, Row> = {
  /** The ability to subscribe. */
  readonly allow: A
  readonly returns: Entity<Row>
  readonly show: (ctx: Ctx, subject: T) => Promise<Row>
}

/** Endpoints to subscribe to one kind of noteable and to unsubscribe; they return its record. */
export function subscriptionRoutesOf<T extends { readonly facts: Facts }, A extends string, P extends TObject, Row>(
  about: DiscussedSubject<T, A, P>,
  { allow, returns, show }: Shown<T, A, Row>,
) {
  const subscribing = (verb: 'subscribe' | 'unsubscribe', summary: string, already: string, subscribed: boolean) =>
    endpoint({
      method: 'POST',
      path: `${about.path}/${verb}`,
      summary,
      subject: about.subject,
      allow,
      params: Params({}),
      unchanged: already,
      returns,
      async handle({ subject, ctx }) {
        const noteable = about.discussed(subject)
        if ((await findSubscribed(ctx.db, ctx.actor, noteable)) === subscribed) return unchanged
        const saved = await ctx.transaction((tx) => saveSubscription(tx, noteable, ctx.actor!.id, subscribed))
        // Fails if it was deleted meanwhile; that another request made the same choice is the other reason.
        const shown = await show(ctx, subject)
        return saved ? (shown as never) : unchanged
      },
    })
  const noun = withArticle(about.noun)
  return [
    subscribing('subscribe', `Subscribe to ${noun}`, 'The caller is already subscribed', true),
    subscribing('unsubscribe', `Unsubscribe from ${noun}`, 'The caller is not subscribed', false),
  ]
}

/** The endpoint that lists who participates in a noteable of one kind. */
export function participantRoutesOf<T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) {
  const withReviewers = assignedTables(about.type).some((table) => table.endsWith('_reviewers'))
  const assigned = `${assignedTables(about.type).length > 0 ? ' assignees,' : ''}${withReviewers ? ' reviewers,' : ''}`
  return [
    endpoint({
      method: 'GET',
      path: `${about.path}/participants`,
      summary: `List ${about.noun} participants`,
      description: `Returns the author,${assigned} commenters and mentioned users.`,
      subject: about.subject,
      allow: about.read,
      paged: true,
      returns: UserListItem,
      handle: ({ subject, page, ctx }) =>
        fetchPage(ctx.db, userReferenceRow, participantsOf(about.discussed(subject)), page),
    }),
  ]
}
