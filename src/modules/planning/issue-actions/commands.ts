import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import { inOneTransaction } from '../../../api/within-transaction.ts'
import { planOffers } from '../../../kernel/plan.ts'
import type { QuickActions } from '../../discussion/index.ts'
import { loadProject } from '../../projects/index.ts'
import { promoteIssue } from '../epic-promotions/service.ts'
import type { LinkType } from '../issue-links/queries.ts'
import { linkIssue } from '../issue-links/service.ts'
import { cloneIssue, moveIssue } from '../issue-moves/service.ts'
import { editIssue, type IssueEdit } from '../issues/edit.ts'
import { asNoteable } from '../issues/noteable.ts'
import { type IssueSubject, loadIssueById } from '../issues/subject.ts'
import { tracked } from '../issues/tracked.ts'
import {
  type Command,
  commandSet,
  type Right,
  type ScheduledCommanded,
  type SharedEdit,
} from '../quick-actions/command.ts'
import { confidential, epicNamed, issuesNamed, sharedCommands } from '../quick-actions/shared.ts'
import { dueDay } from './due-day.ts'
import { commentable, markAsDuplicate } from './duplicates.ts'
import { issueActionLocks } from './locks.ts'

type Edit = SharedEdit & { -readonly [K in keyof Omit<IssueEdit, keyof SharedEdit>]: IssueEdit[K] }
type Subject = ScheduledCommanded<Edit> & { readonly issue: IssueSubject }
type IssueCommand = Command<Edit, Subject>

const abilities = {
  read: 'read_issue',
  update: 'update_issue',
  admin: 'admin_issue',
  reopen: 'reopen_issue',
  award: 'award',
} as const satisfies Record<Right, keyof typeof issuePolicy>

const due: IssueCommand = {
  names: ['due'],
  needs: 'admin',
  plan({ argument, edit }) {
    const day = dueDay(argument, new Date())
    if (day === undefined) return undefined
    edit.due_date = day
    return { says: `Set the due date to ${day}.` }
  },
}

const removeDue: IssueCommand = {
  names: ['remove_due_date'],
  needs: 'admin',
  plan({ edit }) {
    edit.due_date = null
    return { says: 'Removed the due date.' }
  },
}

const weight: IssueCommand = {
  names: ['weight'],
  needs: 'admin',
  plan({ ctx, argument, edit }) {
    if (!planOffers(ctx.plan, 'starter') || !/^\d{1,9}$/.test(argument)) return undefined
    edit.weight = Number(argument)
    return { says: `Set weight to ${Number(argument)}.` }
  },
}

const clearWeight: IssueCommand = {
  names: ['clear_weight'],
  needs: 'admin',
  plan({ ctx, edit }) {
    if (!planOffers(ctx.plan, 'starter')) return undefined
    edit.weight = null
    return { says: 'Cleared weight.' }
  },
}

/** `group/project`. The service of moves asks for the rights in both projects. */
const going = (name: 'move' | 'clone', says: string): IssueCommand => ({
  names: [name],
  needs: 'read',
  async plan({ ctx, subject: { issue }, argument }) {
    const project = argument.includes('/') ? await loadProject(argument, ctx) : undefined
    if (!project) return undefined
    return {
      says: `${says} ${project.full_path}.`,
      run: (context) =>
        name === 'move'
          ? moveIssue(context, issue, project.id)
          : cloneIssue(context, issue, { toProjectId: project.id, withNotes: false }),
    }
  },
})

/** Links all named issues, each with the rights that its link needs, or none of them. */
const linking = (name: string, type: LinkType, says: string): IssueCommand => ({
  names: [name],
  needs: 'admin',
  async plan({ ctx, subject, argument }) {
    const others = await issuesNamed(ctx, subject, argument)
    if (others.length === 0) return undefined
    return {
      says: `${says} ${argument}.`,
      run: (context) =>
        inOneTransaction(
          context,
          async () => {},
          async (within) => {
            for (const { holder, iid } of others)
              await linkIssue(within, subject.issue, { project: String(holder.id), iid, type })
          },
        ),
    }
  },
})

/** Closes the issue as a duplicate of another one, on which the caller may comment; a note on each side names the other, for its readers. */
const duplicate: IssueCommand = {
  names: ['duplicate'],
  needs: 'update',
  async plan({ ctx, subject, argument, edit }) {
    const [named] = await issuesNamed(ctx, subject, argument)
    const other = named && named.id !== subject.issue.id ? await commentable(ctx, named.id) : undefined
    if (!other) return undefined
    const closes = subject.state === 'opened'
    if (closes) edit.state_event = 'close'
    return {
      follows: closes,
      says: `Closed this issue as a duplicate of ${argument}.`,
      run: (context) => markAsDuplicate(context, subject.issue, other),
    }
  },
}

const epic: IssueCommand = {
  names: ['epic'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const found = planOffers(ctx.plan, 'ultimate') ? await epicNamed(ctx, subject, argument) : undefined
    if (!found) return undefined
    edit.epic_id = found.id
    return { says: `Added this issue to epic ${argument}.` }
  },
}

const removeEpic: IssueCommand = {
  names: ['remove_epic'],
  needs: 'admin',
  plan({ ctx, edit }) {
    if (!planOffers(ctx.plan, 'ultimate')) return undefined
    edit.epic_id = null
    return { says: 'Removed this issue from its epic.' }
  },
}

const promote: IssueCommand = {
  names: ['promote'],
  needs: 'update',
  plan({ ctx, subject: { issue, state } }) {
    if (!planOffers(ctx.plan, 'ultimate') || state !== 'opened') return undefined
    return { says: 'Promoted this issue to an epic.', run: (context) => promoteIssue(context, issue) }
  },
}

const commands = commandSet<Edit, Subject>([
  ...sharedCommands,
  due,
  removeDue,
  weight,
  clearWeight,
  confidential,
  linking('relate', 'relates_to', 'Marked this issue as related to'),
  linking('blocks', 'blocks', 'Marked this issue as blocking'),
  linking('blocked_by', 'is_blocked_by', 'Marked this issue as blocked by'),
  duplicate,
  going('move', 'Moved this issue to'),
  going('clone', 'Cloned this issue to'),
  epic,
  removeEpic,
  promote,
])

/** Their names. */
export const issueActionNames: ReadonlySet<string> = commands.names

/** The quick actions of an issue, with the facts of the caller. */
export const issueActions = (subject: IssueSubject): QuickActions =>
  commands.of(
    {
      noteable: { ...asNoteable(subject), iid: subject.iid },
      noun: 'issue',
      tracked: tracked(subject),
      project: subject.project,
      place: { of: 'project', id: subject.project.id, full_path: subject.project.full_path },
      state: subject.state,
      may: (ctx, right) => allows(issuePolicy[abilities[right]], ctx.actor, subject.facts),
      async mayNow(ctx, right) {
        const now = await loadIssueById(subject.id, ctx)
        return now !== undefined && allows(issuePolicy[abilities[right]], ctx.actor, now.facts)
      },
      update: (ctx, edit) => editIssue(ctx, subject, edit),
      issue: subject,
    },
    issueActionLocks(subject.project, subject.id),
  )
