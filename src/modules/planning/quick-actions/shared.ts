import type { Ctx } from '../../../api/ctx.ts'
import {
  findSubscribed,
  finishTodos,
  insertTodos,
  type NamedRow,
  namedNoteables,
  readableNamed,
  saveSubscription,
  toggleAward,
} from '../../discussion/index.ts'
import { findIssueRecords } from '../issues/record-queries.ts'
import { findUsableLabels } from '../labels/assign-queries.ts'
import { findMilestoneByTitle } from '../milestones/queries.ts'
import { namedMilestone } from './arguments.ts'
import { assigneeCommands } from './assignees.ts'
import type { Command, Commanded, ScheduledCommanded, SharedEdit } from './command.ts'
import { labelCommands, labelLists } from './labels.ts'
import { addToList } from './lists.ts'
import { timeCommands } from './time-tracking.ts'

type Common = Command<SharedEdit>
type Shared = Command<SharedEdit, ScheduledCommanded<SharedEdit>>
type Subject = Commanded<SharedEdit>

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

/** Of what can be confidential: issues and epics. */
export const confidential: Command<SharedEdit & { confidential?: boolean }> = {
  names: ['confidential'],
  needs: 'update',
  plan({ subject, edit }) {
    edit.confidential = true
    return { says: `Made this ${subject.noun} confidential.` }
  },
}

/** The id of the milestone that an argument names, such as `%v1`, of those that a project may use. */
export const milestoneNamed = async (ctx: Ctx, projectId: number, argument: string): Promise<number | undefined> => {
  const wanted = namedMilestone(argument)
  return wanted === '' ? undefined : findMilestoneByTitle(ctx.db, projectId, wanted)
}

const milestone: Shared = {
  names: ['milestone'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const id = await milestoneNamed(ctx, subject.project.id, argument)
    if (id === undefined) return undefined
    edit.milestone_id = id
    return { says: `Set the milestone to %"${namedMilestone(argument)}".` }
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

/** The record of the first issue that an argument names, and that the caller may read. */
export async function issueNamed(ctx: Ctx, subject: Pick<Subject, 'place'>, argument: string) {
  const [named] = await issuesNamed(ctx, subject, argument)
  return named ? (await findIssueRecords(ctx.db, ctx.actor, [named.id]))[0] : undefined
}

type IssueRecord = NonNullable<Awaited<ReturnType<typeof issueNamed>>>

/** The milestone that a project gets from an issue: that of the issue, and of one in another project the one with its title. */
export async function copiedMilestone(
  ctx: Ctx,
  projectId: number,
  { project_id, milestone }: Pick<IssueRecord, 'project_id' | 'milestone'>,
): Promise<number | undefined> {
  if (!milestone) return undefined
  return project_id === projectId ? milestone.id : findMilestoneByTitle(ctx.db, projectId, milestone.title)
}

/** Adds the labels of an issue, and sets its milestone, as far as the project has them. */
const copyMetadata: Shared = {
  names: ['copy_metadata'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const source = await issueNamed(ctx, subject, argument)
    if (!source) return undefined
    const titles = source.labels.map(({ name }) => name)
    const labels = await findUsableLabels(ctx.db, subject.noteable, titles)
    addToList(
      edit,
      labelLists,
      labels.map(({ title }) => title),
    )
    const milestoneId = await copiedMilestone(ctx, subject.project.id, source)
    if (milestoneId !== undefined) edit.milestone_id = milestoneId
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

/** Quick actions of every kind of noteable with states and labels. */
export const commonCommands: readonly Common[] = [
  close,
  reopen,
  title,
  ...labelCommands,
  subscribing('subscribe', 'Subscribed to'),
  subscribing('unsubscribe', 'Unsubscribed from'),
  todo,
  done,
  award,
]

/** Quick actions of every kind with milestones, assignees and time tracking, too. */
export const sharedCommands: readonly Shared[] = [
  ...commonCommands,
  ...assigneeCommands,
  milestone,
  removeMilestone,
  copyMetadata,
  locking('lock', 'Locked the discussion.'),
  locking('unlock', 'Unlocked the discussion.'),
  ...timeCommands,
]
