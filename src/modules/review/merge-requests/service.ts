import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { Failure, forbidden, notFound } from '../../../kernel/failure.ts'
import {
  addTodos,
  assignableAmong,
  assignment,
  cleanTitle,
  noteMentions,
  replaceAssigned,
} from '../../discussion/index.ts'
import { setLabels, usableMilestone } from '../../planning/index.ts'
import { loadProject, openRepository, type ProjectSubject, recordActivity } from '../../projects/index.ts'
import { findForkRelation } from '../../repository/index.ts'
import {
  findOpenFor,
  insertMergeRequest,
  mergingDefaults,
  type NewMergeRequest,
  onePerBranches,
} from './edit-queries.ts'
import { emitMergeRequest } from './events.ts'
import { asNoteable } from './noteable.ts'
import { requireRules } from './rules.ts'
import { titleAs } from './title.ts'
import type { Version } from './version-queries.ts'
import { findVersion, recordVersion } from './versions.ts'

export type MergeRequestInput = {
  readonly source_branch: string
  readonly target_branch: string
  /** Defaults to the source project. */
  readonly target_project_id?: number
  readonly title: string
  /** Whether the title gets, or loses, the prefix of a draft. */
  readonly draft?: boolean
  readonly description?: string
  readonly assignee_ids?: readonly number[]
  readonly reviewer_ids?: readonly number[]
  readonly labels?: readonly string[]
  readonly milestone_id?: number
  readonly remove_source_branch?: boolean
  readonly allow_collaboration?: boolean
  readonly squash?: boolean
  readonly approvals_before_merge?: number
}

/** A failure with a list of messages as its body. */
export const refused = (reason: string) => new Failure('unprocessable', reason, { ofWhole: true })

/** The error for a second open merge request for the same branches. */
export const anotherOpen = (iid: number | undefined): Failure =>
  new Failure(
    'conflict',
    `Another open merge request already exists for this source branch${iid === undefined ? '' : `: !${iid}`}`,
    { ofWhole: true },
  )

type Made = { readonly target: ProjectSubject; readonly id: number; readonly iid: number }

/**
 * Creates a merge request from a branch of `source`; the caller is already authorised there. Assignees, reviewers, labels and
 * milestone require push access to the target and are ignored otherwise. Returns the target and the id of the merge request.
 *
 * Throws `not_found` if the target is not visible, `forbidden` if the caller may not create merge requests there, `unprocessable`
 * if the target is outside of the fork network or has merge requests disabled, `conflict` if one is open for the same branches.
 */
export const createMergeRequest = async (ctx: Ctx, source: ProjectSubject, input: MergeRequestInput): Promise<Made> =>
  (await prepareMergeRequest(ctx, source, input)).save(ctx)

/** The first step of `createMergeRequest`, which reads and brings commits. The second, `save`, is one transaction. */
export async function prepareMergeRequest(
  ctx: Ctx,
  source: ProjectSubject,
  { draft, ...given }: MergeRequestInput,
): Promise<{ readonly target: ProjectSubject; save(within: Ctx): Promise<Made> }> {
  const input = { ...given, title: titleAs(cleanTitle(given.title), draft) }
  const target = await findTarget(ctx, source, input.target_project_id)
  requireRules(input)
  if (target.id === source.id && input.source_branch === input.target_branch)
    throw refused("You can't use same project/branch for source and target")
  const branches = { source, target, sourceBranch: input.source_branch, targetBranch: input.target_branch }
  const [version, values] = await Promise.all([findVersion(ctx, branches), valuesOf(ctx, source, target, input)])
  return { target, save: (within) => save(within, source, target, { input, version, values }) }
}

type Prepared = {
  readonly input: MergeRequestInput
  readonly version: Version
  readonly values: Omit<NewMergeRequest, 'milestoneId'>
}

async function save(
  ctx: Ctx,
  source: ProjectSubject,
  target: ProjectSubject,
  { input, version, values }: Prepared,
): Promise<Made> {
  const repo = openRepository(ctx, target)
  const authorId = ctx.actor!.id
  try {
    const made = await ctx.transaction(async (tx) => {
      const assignees = await assignableOf(tx, ctx, target, input.assignee_ids)
      const reviewers = await assignableOf(tx, ctx, target, input.reviewer_ids)
      const wanted = mayAdminister(ctx, target) ? input.milestone_id : undefined
      const milestoneId = (await usableMilestone(tx, target.id, wanted)) ?? null
      const inserted = await insertMergeRequest(tx, { ...values, milestoneId })
      if (!inserted) throw notFound('Project')
      // The insert waits for changes of the project.
      await tx.requirePermission?.()
      const now = await findTarget({ ...ctx, db: tx }, source, target.id)
      if (mayAdminister(ctx, target) && !mayAdminister(ctx, now)) throw forbidden()
      const noteable = asNoteable({ id: inserted.id, project_id: target.id })
      await recordVersion(tx, repo, inserted, version)
      await replaceAssigned(tx, 'merge_request_assignees', noteable, assignees)
      await replaceAssigned(tx, 'merge_request_reviewers', noteable, reviewers)
      if (input.labels && mayAdminister(ctx, target)) await setLabels(tx, ctx, noteable, input.labels, { create: true })
      // Before mentions: a user who is both has the todo of an assignee or reviewer.
      await addTodos(tx, noteable, [...assignees.map(assignment(authorId)), ...reviewers.map(reviewRequest(authorId))])
      if (input.description) await noteMentions(tx, noteable, { text: input.description, authorId, isNew: true })
      await recordActivity(tx, target.id)
      await emitMergeRequest(tx, inserted.id, {
        kind: 'merge_request_opened',
        actorId: authorId,
        ...(milestoneId !== null && { changes: { milestone_id: [null, milestoneId] } }),
      })
      return inserted
    })
    return { target, ...made }
  } catch (error) {
    if (violatedUnique(error) !== onePerBranches) throw error
    throw anotherOpen(await findOpenFor(ctx.db, values))
  }
}

/** Adds the todo of a reviewer. */
export const reviewRequest = (authorId: number) => (userId: number) =>
  ({ userId, authorId, action: 'review_requested' }) as const

const mayAdminister = (ctx: Ctx, target: ProjectSubject): boolean =>
  allows(mergeRequestPolicy.admin_merge_request, ctx.actor, target.facts)

/** The target project: it must accept merge requests from the caller and from the source. */
async function findTarget(ctx: Ctx, source: ProjectSubject, id: number | undefined): Promise<ProjectSubject> {
  const target = id === undefined ? source : await loadProject(String(id), ctx)
  if (!target || !allows(projectPolicy.read_project, ctx.actor, target.facts)) throw notFound('Project')
  if (target.facts.features['merge_requests'] === 0) throw refused('Target project has disabled merge requests')
  if (!allows(projectPolicy.create_merge_request_in, ctx.actor, target.facts)) throw forbidden()
  if (target.id !== source.id && !(await findForkRelation(ctx.db, source.id, target.id)).related)
    throw refused('Source project is not a fork of the target project')
  return target
}

/**
 * Whether the caller may allow members of the target to push to a branch of the source: only users who can push to that branch may.
 * Within one project there is nothing to allow.
 */
export const mayAllowCollaboration = (ctx: Ctx, source: ProjectSubject, target: { readonly id: number }): boolean =>
  source.id !== target.id && allows(projectPolicy.push_code, ctx.actor, source.facts)

async function valuesOf(
  ctx: Ctx,
  source: ProjectSubject,
  target: ProjectSubject,
  input: MergeRequestInput,
): Promise<Omit<NewMergeRequest, 'milestoneId'>> {
  const defaults = await mergingDefaults(ctx.db, target.id)
  const allowCollaboration = input.allow_collaboration === true && mayAllowCollaboration(ctx, source, target)
  return {
    projectId: target.id,
    targetBranch: input.target_branch,
    sourceProjectId: source.id,
    sourceBranch: input.source_branch,
    title: input.title,
    description: input.description ?? null,
    authorId: ctx.actor!.id,
    squash: input.squash ?? defaults.squash,
    allowCollaboration,
    collaborationUserId: allowCollaboration ? ctx.actor!.id : null,
    forceRemoveSourceBranch: input.remove_source_branch ?? defaults.removes,
    approvalsBeforeMerge: input.approvals_before_merge ?? null,
  }
}

/** Requested assignees or reviewers who can be assigned, if the caller may assign, looked up as `assignableAmong` says. */
const assignableOf = async (
  tx: Tx,
  ctx: Ctx,
  target: ProjectSubject,
  ids: readonly number[] | undefined,
): Promise<number[]> => (mayAdminister(ctx, target) ? assignableAmong(tx, ctx, 'MergeRequest', target.id, ids) : [])
