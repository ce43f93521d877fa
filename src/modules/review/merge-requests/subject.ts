import { levels } from '../../../access/levels.ts'
import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { Failure, rowNotFound } from '../../../kernel/failure.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findMergeRequest, type MergeRequestRow } from './queries.ts'

export type MergeRequestSubject = MergeRequestRow & {
  /** The target project. */
  readonly project: ProjectSubject
  readonly facts: Facts
}

/** Facts for policies on a merge request. */
export const mergeRequestFacts = (row: MergeRequestRow, { facts }: ProjectSubject): Facts => ({
  ...facts,
  flags: {
    ...facts.flags,
    own: row.own,
    locked: row.discussion_locked === true && facts.level < levels.guest,
  },
})

/**
 * A merge request by its number in the target project. Two statements; the one for the project is usually cached. Callers who
 * cannot read merge requests of the project cannot find out which numbers exist.
 */
export async function loadMergeRequest(
  { id, merge_request_iid }: { id: string; merge_request_iid: number },
  ctx: Ctx,
): Promise<MergeRequestSubject | undefined> {
  const project = await loadProject(id, ctx)
  if (!project || !allows(mergeRequestPolicy.read_project, ctx.actor, project.facts)) return undefined
  const row = await findMergeRequest(ctx.db, ctx.actor, project.id, merge_request_iid)
  const facts = row ? mergeRequestFacts(row, project) : project.facts
  if (!allows(mergeRequestPolicy.read_merge_request, ctx.actor, facts)) throw new Failure('forbidden', 'Forbidden')
  if (!row) throw rowNotFound()
  return { ...row, project, facts }
}

/** A merge request with the facts that most operations need. */
export const mergeRequest = subject({
  what: 'Project',
  params: Params({
    id: Text({ description: 'ID or full path of the project' }),
    merge_request_iid: Id({ description: 'Number of the merge request within the project' }),
  }),
  policy: mergeRequestPolicy,
  visible: 'read_project',
  load: loadMergeRequest,
})
