import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Params } from '../../../api/params/types.ts'
import type { RowOf, Shape } from '../../../db/row.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { type DiscussedSubject, withArticle } from '../../discussion/index.ts'
import { type EventTable, eventsOf, findEvent } from './queries.ts'

/** A sort of events: `label`, with `resource_label_events` in the path. */
type EventSort<R extends Shape> = {
  readonly word: 'label' | 'milestone' | 'state'
  /** For the documentation. */
  readonly description: string
  readonly table: EventTable<R>
  readonly entity: Entity<Readonly<RowOf<R>>>
}

/** Endpoints of a sort of events of one kind of noteable. */
export function resourceEventRoutesOf<
  R extends Shape,
  T extends { readonly facts: Facts },
  A extends string,
  P extends TObject,
>({ word, description, table, entity }: EventSort<R>, about: DiscussedSubject<T, A, P>) {
  const path = `${about.path}/resource_${word}_events`
  const name = `resource_${word}_event_id`
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List ${about.noun} ${word} events`,
      description: `${description} Oldest first.`,
      subject: about.subject,
      allow: about.read,
      paged: true,
      returns: entity,
      handle: ({ subject, page, ctx }) =>
        fetchPage(ctx.db, table.row, eventsOf(table, about.discussed(subject)), page) as never,
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:${name}`,
      summary: `Get ${withArticle(about.noun)} ${word} event`,
      subject: about.subject,
      allow: about.read,
      params: Params({ [name]: Id({ description: 'ID of the event' }) }),
      returns: entity,
      async handle({ subject, params, ctx }) {
        const event = await findEvent(
          ctx.db,
          table,
          about.discussed(subject),
          (params as Record<string, number>)[name]!,
        )
        if (!event) throw rowNotFound()
        return event as never
      },
    }),
  ]
}
