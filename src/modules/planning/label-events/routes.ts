import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import type { DiscussedSubject } from '../../discussion/index.ts'
import { resourceEventRoutesOf } from '../resource-events/routes.ts'
import { ResourceLabelEvent } from './entity.ts'
import { labelEvents } from './queries.ts'

/** Endpoints of label events of one kind of noteable. */
export const labelEventRoutesOf = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) =>
  resourceEventRoutesOf(
    {
      word: 'label',
      description: 'When labels were added and removed.',
      table: labelEvents,
      entity: ResourceLabelEvent,
    },
    about,
  )
