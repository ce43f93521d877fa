import {
  addSpent,
  formatDuration,
  parseDuration,
  resetEstimate,
  resetSpent,
  setEstimate,
} from '../../discussion/index.ts'
import type { Command, ScheduledCommanded, SharedEdit } from './command.ts'

type Shared = Command<SharedEdit, ScheduledCommanded<SharedEdit>>

const estimate: Shared = {
  names: ['estimate'],
  needs: 'update',
  plan({ ctx, subject: { tracked }, argument }) {
    const seconds = parseDuration(argument)
    if (seconds === undefined || seconds <= 0) return undefined
    const shown = formatDuration(seconds, ctx.settings.time_tracking_limit_to_hours)
    return { says: `Set time estimate to ${shown}.`, run: (context) => setEstimate(context, tracked, argument) }
  },
}

const removeEstimate: Shared = {
  names: ['remove_estimate'],
  needs: 'update',
  plan: ({ subject: { tracked } }) => ({ says: 'Removed time estimate.', run: (ctx) => resetEstimate(ctx, tracked) }),
}

const spend: Shared = {
  names: ['spend'],
  needs: 'update',
  plan({ ctx, subject: { tracked }, argument }) {
    const seconds = parseDuration(argument)
    if (!seconds) return undefined
    const shown = formatDuration(Math.abs(seconds), ctx.settings.time_tracking_limit_to_hours)
    return {
      says: `${seconds > 0 ? 'Added' : 'Subtracted'} ${shown} spent time.`,
      run: (context) => addSpent(context, tracked, argument),
    }
  },
}

const removeSpent: Shared = {
  names: ['remove_time_spent'],
  needs: 'update',
  plan: ({ subject: { tracked } }) => ({ says: 'Removed spent time.', run: (ctx) => resetSpent(ctx, tracked) }),
}

export const timeCommands: readonly Shared[] = [estimate, removeEstimate, spend, removeSpent]
