import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import { planOffers } from '../../../kernel/plan.ts'
import type { QuickActions } from '../../discussion/index.ts'
import { loadProject } from '../../projects/index.ts'
import { cloneIssue, moveIssue } from '../issue-moves/service.ts'
import { editIssue, type IssueEdit } from '../issues/edit.ts'
import { asNoteable } from '../issues/noteable.ts'
import type { IssueSubject } from '../issues/subject.ts'
import { tracked } from '../issues/tracked.ts'
import { type Command, type Commanded, quickActionsOf, type Right, type SharedEdit } from '../quick-actions/command.ts'
import { sharedCommands } from '../quick-actions/shared.ts'
import { dueDay } from './due-day.ts'

type Edit = SharedEdit & { -readonly [K in keyof Omit<IssueEdit, keyof SharedEdit>]: IssueEdit[K] }
type Subject = Commanded<Edit> & { readonly issue: IssueSubject }
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

const confidential: IssueCommand = {
  names: ['confidential'],
  needs: 'update',
  plan({ edit }) {
    edit.confidential = true
    return { says: 'Made this issue confidential.' }
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

const commands: readonly IssueCommand[] = [
  ...sharedCommands,
  due,
  removeDue,
  weight,
  clearWeight,
  confidential,
  going('move', 'Moved this issue to'),
  going('clone', 'Cloned this issue to'),
]

/** Their names. */
export const issueActionNames: ReadonlySet<string> = new Set(commands.flatMap(({ names }) => names))

/** The quick actions of an issue, with the facts of the caller. */
export const issueActions = (subject: IssueSubject): QuickActions =>
  quickActionsOf<Edit, Subject>(commands, {
    noteable: { ...asNoteable(subject), iid: subject.iid },
    noun: 'issue',
    tracked: tracked(subject),
    project: subject.project,
    state: subject.state,
    may: (ctx, right) => allows(issuePolicy[abilities[right]], ctx.actor, subject.facts),
    update: (ctx, edit) => editIssue(ctx, subject, edit),
    issue: subject,
  })
