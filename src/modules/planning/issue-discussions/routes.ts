import { awardEmojiRoutesOf, discussionRoutesOf, noteRoutesOf, timeTrackingRoutesOf } from '../../discussion/index.ts'
import { tracked } from '../issues/tracked.ts'
import { labelEventRoutesOf } from '../label-events/routes.ts'
import { milestoneEventRoutesOf } from '../milestone-events/routes.ts'
import { stateEventRoutesOf } from '../state-events/routes.ts'
import { discussedIssue } from './subject.ts'

export const issueNoteRoutes = [...noteRoutesOf(discussedIssue), ...discussionRoutesOf(discussedIssue)]
export const issueAwardEmojiRoutes = awardEmojiRoutesOf(discussedIssue)
export const issueTimeTrackingRoutes = timeTrackingRoutesOf(discussedIssue, tracked)
export const issueLabelEventRoutes = labelEventRoutesOf(discussedIssue)
export const issueMilestoneEventRoutes = milestoneEventRoutesOf(discussedIssue)
export const issueStateEventRoutes = stateEventRoutesOf(discussedIssue)
