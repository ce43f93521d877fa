import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { reaches } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { Failure } from '../../../kernel/failure.ts'
import { authenticateDerived } from '../../accounts/index.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { type CompletedPush, shown } from '../../pushes/index.ts'
import { createMergeRequest } from '../merge-requests/service.ts'
import { loadMergeRequest, type MergeRequestSubject } from '../merge-requests/subject.ts'
import { shortened, titleAs } from '../merge-requests/title.ts'
import { editCurrent } from '../merging/edit-current.ts'
import { readBranch } from '../merging/heads.ts'
import { mergeOncePipelineSucceeds } from '../merging/merge-service.ts'
import { defaultTarget, findTargetProject, mayCreate, proposable } from './branches.ts'
import { type FoundRow, findForPush, findSource } from './queries.ts'
import { textFromCommits } from './text.ts'
import { findWish, type MergeRequestOptions } from './wish.ts'

/** Maximum branches of a push to which options apply. Source: supplement to the API documents, "Push options". */
const maxBranches = 10

export const denied = 'User access was denied'
const unknown = 'An unknown error occurred'

export type Applied = {
  /** A sentence about each option without effect. */
  readonly warnings: readonly string[]
  /** False if a fault, which may pass, prevented something. */
  readonly isComplete: boolean
}

type Push = Pick<CompletedPush, 'id' | 'projectId' | 'changes'>

/** The user who pushed, and the access token that was used, if any. */
export type Credential = { readonly userId: number; readonly tokenId: number | undefined }

/**
 * Creates or updates the merge requests of the pushed branches, as the options of the push say, with the rights that user and token
 * have now over the API. Repeating it changes nothing that is done. As expensive as the calls of the API that it stands for.
 */
export async function applyOptions(
  ctx: Ctx,
  credential: Credential,
  push: Push,
  options: MergeRequestOptions,
): Promise<Applied> {
  const authenticated = await authenticateDerived(ctx.db, credential, ctx)
  if (!('actor' in authenticated)) return refused(denied)
  const { actor } = authenticated
  if (!reaches(actor.scopes, ['api'])) return refused(`${denied}: the access token needs the scope api`)
  return applyAs({ ...ctx, actor }, push, options)
}

const refused = (warning: string): Applied => ({ warnings: [warning], isComplete: true })

/** What the options of one push apply to. */
type Proposal = {
  readonly pushId: number
  readonly source: ProjectSubject
  readonly target: ProjectSubject
  readonly options: MergeRequestOptions
}

async function applyAs(ctx: Ctx, push: Push, options: MergeRequestOptions): Promise<Applied> {
  const source = await loadProject(String(push.projectId), ctx)
  if (!source || !allows(projectPolicy.read_project, ctx.actor, source.facts)) return refused(denied)
  const settings = await findSource(ctx.db, source.id)
  const { target_project: named } = options
  const target = named
    ? await findTargetProject(ctx, source, named)
    : await defaultTarget(ctx, source, settings?.forked_from ?? null)
  if (!target) return refused(`The target project ${shown(named!)} does not exist or is not in the same fork network`)
  const branches = proposable(push.changes, target)
  if (target.facts.features['merge_requests'] === 0)
    return refused(`Merge requests are not enabled for project ${target.full_path}`)
  if (branches.length === 0)
    return refused('The merge_request push options have no effect: no branch but the default branch was pushed')
  if (branches.length > maxBranches)
    return refused(`Too many branches pushed (${branches.length} were pushed, limit is ${maxBranches})`)
  const proposal = { pushId: push.id, source, target, options }
  const warnings: string[] = []
  let isComplete = true
  for (const branch of branches) {
    try {
      warnings.push(...(await applyToBranch(ctx, proposal, branch)))
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) {
        ctx.log.error({ err: error, push_id: push.id }, 'failed to apply push options')
        isComplete = false
      }
      warnings.push(refusal ?? unknown)
    }
  }
  return { warnings: [...new Set(warnings)], isComplete }
}

/** Kinds of failure that a change of rights or of the subject causes. */
const accessKinds: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden', 'not_found'])

/** The reason of a refusal; `undefined` for faults, after which a retry may succeed. */
function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Failure) || error.kind === 'unavailable' || error.kind === 'storage_full') return undefined
  return accessKinds.has(error.kind) ? denied : error.message
}

/** Returns warnings. */
async function applyToBranch(ctx: Ctx, proposal: Proposal, branch: string): Promise<readonly string[]> {
  const { source, options } = proposal
  if (!(await readBranch(openRepository(ctx, source), branch))) return [missing(branch)]
  const found = await findFor(ctx, proposal, branch)
  if (found) return update(ctx, found, options, branch)
  if (!options.create)
    return [`A merge_request.create push option is required to create a merge request for branch ${branch}`]
  return create(ctx, proposal, branch)
}

const missing = (branch: string): string => `Branch ${branch} does not exist`

const findFor = (ctx: Ctx, { pushId, source, target, options }: Proposal, branch: string) =>
  findForPush(ctx.db, {
    pushId,
    actorId: ctx.actor!.id,
    sourceProjectId: source.id,
    sourceBranch: branch,
    targetProjectId: target.id,
    targetBranch: options.target,
    onlyInTarget: options.create === true || options.target_project !== undefined,
  })

async function create(ctx: Ctx, proposal: Proposal, branch: string): Promise<readonly string[]> {
  const { source, target, options } = proposal
  if (!mayCreate(ctx, source, target)) return [denied]
  const targetBranch = options.target ?? target.default_branch
  if (targetBranch === null) return [`The project ${target.full_path} has no default branch.`]
  if (!(await hasBranch(ctx, target, targetBranch))) return [missing(targetBranch)]
  const wish = await findWish(ctx, target, options)
  const branches = { source, target, sourceBranch: branch, targetBranch }
  const text = options.title === undefined ? await textFromCommits(ctx, branches) : { title: options.title }
  const titled = titleAs(text.title, options.draft || undefined)
  const description = options.description ?? text.description
  try {
    await createMergeRequest(ctx, source, {
      source_branch: branch,
      target_branch: targetBranch,
      target_project_id: target.id,
      title: options.title === undefined ? shortened(titled) : titled,
      ...(description !== undefined && { description }),
      ...(options.remove_source_branch !== undefined && { remove_source_branch: options.remove_source_branch }),
      ...(wish.milestoneId !== undefined && { milestone_id: wish.milestoneId }),
      labels: wish.labels.filter((title) => !wish.unlabels.includes(title)),
      assignee_ids: wish.assignees.filter((id) => !wish.unassigned.includes(id)),
    })
  } catch (error) {
    // It exists already, created concurrently.
    if (!(error instanceof Failure) || error.kind !== 'conflict') throw error
    const other = await findFor(ctx, proposal, branch)
    if (!other) throw error
    return update(ctx, other, options, branch)
  }
  const created = options.merge_when_pipeline_succeeds ? await findFor(ctx, proposal, branch) : undefined
  const subject = created && (await load(ctx, created))
  return [...wish.warnings, ...(subject ? await mergeLater(ctx, subject, branch) : [])]
}

/** The existence of branches is not revealed to users who cannot read the code. */
const hasBranch = async (ctx: Ctx, project: ProjectSubject, branch: string): Promise<boolean> =>
  allows(projectPolicy.read_code, ctx.actor, project.facts) &&
  (await readBranch(openRepository(ctx, project), branch)) !== undefined

const load = (ctx: Ctx, { project_id, iid }: FoundRow): Promise<MergeRequestSubject | undefined> =>
  loadMergeRequest({ id: String(project_id), merge_request_iid: iid }, ctx)

async function update(
  ctx: Ctx,
  found: FoundRow,
  options: MergeRequestOptions,
  branch: string,
): Promise<readonly string[]> {
  // These options have created it, and it was closed or merged since.
  if (found.state !== 'opened') return []
  const subject = await load(ctx, found)
  if (!subject || !allows(mergeRequestPolicy.update_merge_request, ctx.actor, subject.facts)) return [denied]
  if (options.target !== undefined && !(await hasBranch(ctx, subject.project, options.target)))
    return [missing(options.target)]
  const wish = await findWish(ctx, subject.project, options)
  const { title, draft } = options
  const edit = {
    ...((title !== undefined || draft) && {
      title: title === undefined ? shortened(titleAs(subject.title, true)) : titleAs(title, draft || undefined),
    }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.target !== undefined && { target_branch: options.target }),
    ...(options.remove_source_branch !== undefined && { remove_source_branch: options.remove_source_branch }),
    ...(wish.milestoneId !== undefined && { milestone_id: wish.milestoneId }),
    ...(wish.labels.length > 0 && { add_labels: wish.labels }),
    ...(wish.unlabels.length > 0 && { remove_labels: wish.unlabels }),
    ...(wish.assignees.length > 0 && { add_assignee_ids: wish.assignees }),
    ...(wish.unassigned.length > 0 && { remove_assignee_ids: wish.unassigned }),
  }
  if (Object.keys(edit).length > 0) await editCurrent(ctx, subject, edit)
  return [...wish.warnings, ...(options.merge_when_pipeline_succeeds ? await mergeLater(ctx, subject, branch) : [])]
}

/** Enables the automatic merge; a refusal is a warning. */
async function mergeLater(ctx: Ctx, subject: MergeRequestSubject, branch: string): Promise<readonly string[]> {
  try {
    await mergeOncePipelineSucceeds(ctx, subject)
    return []
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    return [`The automatic merge of ${shown(branch)} is not enabled: ${refusal}`]
  }
}
