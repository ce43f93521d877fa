import { milestoneReactionsOf } from '../../planning/index.ts'

/** The reactions of merge requests. */
export const { follow: followMilestones, replaceLeft: replaceLeftMilestones } = milestoneReactionsOf('MergeRequest')
