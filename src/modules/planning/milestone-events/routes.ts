import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import type { DiscussedSubject } from '../../discussion/index.ts'
import { resourceEventRoutesOf } from '../resource-events/routes.ts'
import { ResourceMilestoneEvent } from './entity.ts'
import { milestoneEvents } from './queries.ts'

/** Endpoints of milestone events of one kind of noteable. */
export const milestoneEventRoutesOf = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) =>
  resourceEventRoutesOf(
    {
      word: 'milestone',
      description: 'When milestones were added and removed.',
      table: milestoneEvents,
      entity: ResourceMilestoneEvent,
    },
    about,
  )
