import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import type { DiscussedSubject } from '../../discussion/index.ts'
import { resourceEventRoutesOf } from '../resource-events/routes.ts'
import { ResourceStateEvent } from './entity.ts'
import { stateEvents } from './queries.ts'

/** Endpoints of state events of one kind of noteable. */
export const stateEventRoutesOf = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) =>
  resourceEventRoutesOf(
    {
      word: 'state',
      description: 'When it was closed, reopened or merged.',
      table: stateEvents,
      entity: ResourceStateEvent,
    },
    about,
  )
