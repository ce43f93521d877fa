import type { Endpoint } from '../../../api/endpoint.ts'
import {
  awardEmojiRoutesOf,
  discussionRoutesOf,
  noteRoutesOf,
  participantRoutesOf,
  subscriptionRoutesOf,
} from '../../discussion/index.ts'
import { getEpic } from '../epics/detail.ts'
import { Epic } from '../epics/entity.ts'
import { labelEventRoutesOf } from '../label-events/routes.ts'
import { stateEventRoutesOf } from '../state-events/routes.ts'
import { discussedEpic } from './subject.ts'

/** Epics exist on the highest plan. */
const ofUltimate = (routes: readonly Endpoint[]): readonly Endpoint[] =>
  routes.map((route) => ({ ...route, tier: 'ultimate' }))

export const epicNoteRoutes = ofUltimate([...noteRoutesOf(discussedEpic), ...discussionRoutesOf(discussedEpic)])
export const epicAwardEmojiRoutes = ofUltimate(awardEmojiRoutesOf(discussedEpic))
export const epicLabelEventRoutes = ofUltimate(labelEventRoutesOf(discussedEpic))
export const epicStateEventRoutes = ofUltimate(stateEventRoutesOf(discussedEpic))
export const epicSubscriptionRoutes = ofUltimate([
  ...subscriptionRoutesOf(discussedEpic, {
    allow: 'read_epic',
    returns: Epic,
    show: (ctx, { id }) => getEpic(ctx, id),
  }),
  ...participantRoutesOf(discussedEpic),
])
