import { awardEmojiRoutesOf, discussionRoutesOf, noteRoutesOf, timeTrackingRoutesOf } from '../../discussion/index.ts'
import { labelEventRoutesOf } from '../../planning/index.ts'
import { tracked } from '../merge-requests/tracked.ts'
import { discussedMergeRequest } from './subject.ts'

export const noteRoutes = noteRoutesOf(discussedMergeRequest)
export const discussionRoutes = discussionRoutesOf(discussedMergeRequest)
export const awardEmojiRoutes = awardEmojiRoutesOf(discussedMergeRequest)
export const timeTrackingRoutes = timeTrackingRoutesOf(discussedMergeRequest, tracked)
export const labelEventRoutes = labelEventRoutesOf(discussedMergeRequest)
