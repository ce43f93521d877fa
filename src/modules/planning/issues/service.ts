import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { taken, violationsOf } from '../../../kernel/violations.ts'
import {
  addTodos,
  assignableAmong,
  assignment,
  cleanTitle,
  noteMentions,
  replaceAssigned,
  textViolations,
} from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import { type ProjectSubject, project as projectSubject, recordActivity } from '../../projects/index.ts'
import { changeEpicOfIssue, chosenEpic } from '../epic-links/service.ts'
import { setLabels } from '../labels/assign.ts'
import { usableMilestone } from '../milestones/service.ts'
import { agentOf } from './agents.ts'
import { insertIssue } from './edit-queries.ts'
import { emitIssue } from './events.ts'
import type { FollowUp } from './follow-up.ts'
import { asNoteable } from './noteable.ts'

export type IssueInput = {
  readonly title: string
  readonly description?: string
  readonly confidential?: boolean
  readonly assignee_ids?: readonly number[]
  readonly labels?: readonly string[]
  readonly milestone_id?: number
  /** `YYYY-MM-DD` */
  readonly due_date?: string
  readonly weight?: number
  readonly discussion_locked?: boolean | null
  /** The epic by id, or by number in the group of the project. */
  readonly epic_id?: number
  readonly epic_iid?: number
  /** Ignored unless the caller may set them. */
  readonly iid?: number
  readonly created_at?: Date
}

/** Fails with all violations of title and description. */
export function requireTexts(written: { readonly title?: string; readonly description?: string | null }): void {
  const violations = violationsOf(textViolations(written))
  if (violations) throw invalidFields(violations)
}

/**
 * Creates an issue. Assignees, labels, milestone, due date, weight, epic and lock require the ability `admin_issue` and are ignored
 * otherwise, as are number and creation time without `date_issue`. Resolves the discussions that it continues.
 */
export async function createIssue(
  ctx: Ctx,
  project: ProjectSubject,
  given: IssueInput,
  followUp?: FollowUp,
): Promise<{ readonly id: number; readonly iid: number }> {
  const title = cleanTitle(given.title)
  requireTexts({ ...given, title })
  const may = (ability: 'admin_issue' | 'date_issue') => allows(projectPolicy[ability], ctx.actor, project.facts)
  const input = {
    ...given,
    title,
    ...(!may('admin_issue') && unadministered),
    ...(!may('date_issue') && undated),
  }
  const epicId = await chosenEpic(ctx, project, input)
  const authorId = ctx.actor!.id
  return ctx
    .transaction(async (tx) => {
      if (epicId) await holdPlace(tx, { of: 'project', id: project.id })
      const assignees = await assignableAmong(tx, ctx, 'Issue', project.id, input.assignee_ids)
      const milestoneId = await usableMilestone(tx, project.id, input.milestone_id)
      const made = await insertIssue(tx, {
        projectId: project.id,
        title,
        description: input.description ?? null,
        authorId,
        confidential: input.confidential ?? false,
        discussionLocked: input.discussion_locked ?? null,
        milestoneId: milestoneId ?? null,
        dueDate: input.due_date ?? null,
        weight: input.weight ?? null,
        iid: input.iid,
        createdAt: input.created_at,
        agent: agentOf(ctx),
      })
      if (!made) throw notFound('Project')
      // The insert waits for changes of the project.
      await tx.requirePermission?.()
      await requireAttributesNow(tx, ctx, project.id, input)
      const noteable = asNoteable({ id: made.id, project_id: project.id })
      if (assignees.length > 0) await replaceAssigned(tx, 'issue_assignees', noteable, assignees)
      if (input.labels) await setLabels(tx, ctx, noteable, input.labels, { create: true, at: input.created_at })
      if (epicId) await changeEpicOfIssue(tx, ctx, { ...made, project_id: project.id, project }, epicId)
      // Before mentions: a user who is both has the todo of an assignee.
      await addTodos(tx, noteable, assignees.map(assignment(authorId)))
      if (input.description) await noteMentions(tx, noteable, { text: input.description, authorId, isNew: true })
      await Promise.all([
        recordActivity(tx, project.id),
        emitIssue(tx, made.id, {
          kind: 'issue_opened',
          actorId: authorId,
          ...(milestoneId && { changes: { milestone_id: [null, milestoneId] } }),
        }),
      ])
      await followUp?.resolve(tx)
      return made
    })
    .catch((error: unknown) => {
      throw violatedUnique(error) === 'issues_project_id_iid_key' ? invalidFields({ iid: [taken] }) : error
    })
}

/** Throws if the caller has lost an ability meanwhile that these attributes need. */
async function requireAttributesNow(
  tx: Tx,
  ctx: Ctx,
  projectId: number,
  input: { readonly [K in keyof IssueInput]?: IssueInput[K] | undefined },
): Promise<void> {
  if (!tx.requirePermission) return
  const needed = [
    ...(setsAny(input, unadministered) ? ['admin_issue' as const] : []),
    ...(setsAny(input, undated) ? ['date_issue' as const] : []),
  ]
  for (const ability of needed) if (!(await allowsNow(projectSubject, ability, projectId, ctx, tx))) throw forbidden()
}

/** Whether an input has any of these attributes. */
export const setsAny = <Input extends object>(
  input: Input,
  names: { readonly [K in keyof Input]?: undefined },
): boolean => (Object.keys(names) as (keyof Input)[]).some((name) => input[name] !== undefined)

/** What a caller cannot set who may not date issues. */
const undated = { iid: undefined, created_at: undefined } as const

/** What a caller cannot set who may not administer issues. */
const unadministered = {
  assignee_ids: undefined,
  labels: undefined,
  milestone_id: undefined,
  due_date: undefined,
  weight: undefined,
  discussion_locked: undefined,
  epic_id: undefined,
  epic_iid: undefined,
} as const
