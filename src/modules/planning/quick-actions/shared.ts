import type { Ctx } from '../../../api/ctx.ts'
import {
  addSpent,
  findSubscribed,
  finishTodos,
  formatDuration,
  insertTodos,
  type NamedRow,
  namedNoteables,
  parseDuration,
  readableNamed,
  readersByName,
  resetEstimate,
  resetSpent,
  saveSubscription,
  setEstimate,
  toggleAward,
} from '../../discussion/index.ts'
import { findIssueRecords } from '../issues/record-queries.ts'
import { findUsableLabels } from '../labels/assign-queries.ts'
import { findMilestoneByTitle } from '../milestones/queries.ts'
import { namedLabels, namedMilestone, namedUsers } from './arguments.ts'
import type { Command, Commanded, ScheduledCommanded, SharedEdit } from './command.ts'

type Common = Command<SharedEdit>
type Shared = Command<SharedEdit, ScheduledCommanded<SharedEdit>>
type Subject = Commanded<SharedEdit>

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** The users that an argument names and that may read the noteable's project. */
export async function usersNamed(ctx: Ctx, { noteable }: Subject, argument: string) {
  const names = namedUsers(argument, ctx.actor!.username)
  const users = names.length > 0 ? await readersByName(ctx.db, noteable.type, noteable.holder.id, names) : []
  return { ids: users.map(({ id }) => id), text: listed(users.map(({ username }) => `@${username}`)) }
}

/** The titles of existing labels that an argument names. */
async function labelsNamed(ctx: Ctx, { noteable }: Subject, argument: string) {
  const found = await findUsableLabels(ctx.db, noteable, namedLabels(argument))
  const titles = found.map(({ title }) => title)
  return {
    titles,
    text: `${titles.map((title) => `~"${title}"`).join(' ')} ${titles.length === 1 ? 'label' : 'labels'}`,
  }
}

const close: Common = {
  names: ['close'],
  needs: 'update',
  plan({ subject, edit }) {
    if (subject.state !== 'opened') return undefined
    edit.state_event = 'close'
    return { says: `Closed this ${subject.noun}.` }
  },
}

const reopen: Common = {
  names: ['reopen'],
  needs: 'reopen',
  plan({ subject, edit }) {
    if (subject.state !== 'closed') return undefined
    edit.state_event = 'reopen'
    return { says: `Reopened this ${subject.noun}.` }
  },
}

const title: Common = {
  names: ['title'],
  needs: 'update',
  plan({ argument, edit }) {
    if (argument === '') return undefined
    edit.title = argument
    return { says: `Changed the title to "${argument}".` }
  },
}

const assign: Shared = {
  names: ['assign'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { ids, text } = await usersNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    edit.add_assignee_ids = [...(edit.add_assignee_ids ?? []), ...ids]
    return { says: `Assigned ${text}.` }
  },
}

const unassign: Shared = {
  names: ['unassign', 'remove_assignee'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    if (argument === '') {
      delete edit.add_assignee_ids
      edit.assignee_ids = []
      return { says: 'Removed all assignees.' }
    }
    const { ids, text } = await usersNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    edit.remove_assignee_ids = [...(edit.remove_assignee_ids ?? []), ...ids]
    return { says: `Removed ${ids.length === 1 ? 'assignee' : 'assignees'} ${text}.` }
  },
}

const reassign: Shared = {
  names: ['reassign'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { ids, text } = await usersNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    delete edit.add_assignee_ids
    edit.assignee_ids = ids
    return { says: `Changed assignees to ${text}.` }
  },
}

const label: Common = {
  names: ['label', 'labels'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    edit.add_labels = [...(edit.add_labels ?? []), ...titles]
    return { says: `Added ${text}.` }
  },
}

const unlabel: Common = {
  names: ['unlabel', 'remove_label'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    if (argument === '') {
      delete edit.add_labels
      edit.labels = []
      return { says: 'Removed all labels.' }
    }
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    edit.remove_labels = [...(edit.remove_labels ?? []), ...titles]
    return { says: `Removed ${text}.` }
  },
}

const relabel: Common = {
  names: ['relabel'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { titles, text } = await labelsNamed(ctx, subject, argument)
    if (titles.length === 0) return undefined
    delete edit.add_labels
    edit.labels = titles
    return { says: `Replaced all labels with ${text}.` }
  },
}

const milestone: Shared = {
  names: ['milestone'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const wanted = namedMilestone(argument)
    const id = wanted === '' ? undefined : await findMilestoneByTitle(ctx.db, subject.project.id, wanted)
    if (id === undefined) return undefined
    edit.milestone_id = id
    return { says: `Set the milestone to %"${wanted}".` }
  },
}

const removeMilestone: Shared = {
  names: ['remove_milestone'],
  needs: 'admin',
  plan({ edit }) {
    edit.milestone_id = null
    return { says: 'Removed the milestone.' }
  },
}

/** The issues that an argument names, such as `#1` or `group/project#1`, and that the caller may read. */
export const issuesNamed = (ctx: Ctx, { place }: Pick<Subject, 'place'>, argument: string) =>
  readableNamed(ctx, 'Issue', namedNoteables(argument, ctx.site.url), place)

/** The first epic that an argument names, such as `&1` or `group&1`, and that the caller may read. */
export const epicNamed = async (
  ctx: Ctx,
  { place }: Pick<Subject, 'place'>,
  argument: string,
): Promise<NamedRow | undefined> => (await readableNamed(ctx, 'Epic', namedNoteables(argument, ctx.site.url), place))[0]

/** Adds the labels of an issue, and sets its milestone. */
const copyMetadata: Shared = {
  names: ['copy_metadata'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const [named] = await issuesNamed(ctx, subject, argument)
    const [source] = named ? await findIssueRecords(ctx.db, ctx.actor, [named.id]) : []
    if (!source) return undefined
    edit.add_labels = [...(edit.add_labels ?? []), ...source.labels.map(({ name }) => name)]
    if (source.milestone) edit.milestone_id = source.milestone.id
    return { says: `Copied labels and milestone from ${argument}.` }
  },
}

const locking = (name: 'lock' | 'unlock', says: string): Shared => ({
  names: [name],
  needs: 'admin',
  plan({ edit }) {
    edit.discussion_locked = name === 'lock'
    return { says }
  },
})

const subscribing = (name: 'subscribe' | 'unsubscribe', verb: string): Common => ({
  names: [name],
  needs: 'read',
  plan({ subject }) {
    const { noteable } = subject
    const wanted = name === 'subscribe'
    return {
      says: `${verb} this ${subject.noun}.`,
      async run(ctx) {
        if ((await findSubscribed(ctx.db, ctx.actor, noteable)) === wanted) return
        await ctx.transaction((tx) => saveSubscription(tx, noteable, ctx.actor!.id, wanted))
      },
    }
  },
})

const todo: Common = {
  names: ['todo'],
  needs: 'read',
  plan: ({ subject: { noteable } }) => ({
    says: 'Added a to-do item.',
    run(ctx) {
      const userId = ctx.actor!.id
      return ctx.transaction((tx) => insertTodos(tx, noteable, [{ userId, authorId: userId, action: 'marked' }]))
    },
  }),
}

const done: Common = {
  names: ['done'],
  needs: 'read',
  plan: ({ subject: { noteable } }) => ({
    says: 'Marked to-do item as done.',
    run: (ctx) => ctx.transaction((tx) => finishTodos(tx, ctx.actor!.id, noteable)),
  }),
}

/** `:tada:`, or `tada`. */
const award: Common = {
  names: ['award'],
  needs: 'award',
  plan({ subject: { noteable }, argument }) {
    const [, name] = /^:?([\w+-]{1,100}):?$/.exec(argument) ?? []
    if (name === undefined) return undefined
    return { says: `Toggled :${name}: emoji award.`, run: (ctx) => toggleAward(ctx, { noteable, noteId: null }, name) }
  },
}

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

/** Quick actions of every kind of noteable with states and labels. */
export const commonCommands: readonly Common[] = [
  close,
  reopen,
  title,
  label,
  unlabel,
  relabel,
  subscribing('subscribe', 'Subscribed to'),
  subscribing('unsubscribe', 'Unsubscribed from'),
  todo,
  done,
  award,
]

/** Quick actions of every kind with milestones, assignees and time tracking, too. */
export const sharedCommands: readonly Shared[] = [
  ...commonCommands,
  assign,
  unassign,
  reassign,
  milestone,
  removeMilestone,
  copyMetadata,
  locking('lock', 'Locked the discussion.'),
  locking('unlock', 'Unlocked the discussion.'),
  estimate,
  removeEstimate,
  spend,
  removeSpent,
]
