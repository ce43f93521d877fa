import { issuePolicy } from '../../../access/issue-policy.ts'
import { levels } from '../../../access/levels.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { Failure, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findIssue, findIssueById, type IssueRow } from './queries.ts'

export type IssueSubject = IssueRow & { readonly project: ProjectSubject; readonly facts: Facts }

/** Facts for `issuePolicy`. */
export const issueFacts = (row: IssueRow, { facts }: ProjectSubject): Facts => {
  const isLocked = row.discussion_locked === true
  return {
    ...facts,
    flags: {
      ...facts.flags,
      hidden: row.hidden,
      own: row.own,
      locked: isLocked && facts.level < levels.guest,
      locked_for_all: isLocked,
    },
  }
}

export const issueNotFound = () => notFound('Issue')

/**
 * An issue by its number in the project. Two statements; the one for the project is usually cached. Callers who cannot read issues
 * of the project, or a confidential issue, cannot find out which numbers exist.
 */
export async function loadIssue(
  { id, issue_iid }: { id: string; issue_iid: number },
  ctx: Ctx,
  missing: () => Failure = rowNotFound,
): Promise<IssueSubject | undefined> {
  const project = await loadProject(id, ctx)
  if (!project || !allows(issuePolicy.read_project, ctx.actor, project.facts)) return undefined
  if (!allows(projectPolicy.read_issue, ctx.actor, project.facts)) throw new Failure('forbidden', 'Forbidden')
  const row = await findIssue(ctx.db, ctx.actor, project.id, issue_iid)
  const facts = row && issueFacts(row, project)
  if (!row || !facts || !allows(issuePolicy.read_issue, ctx.actor, facts)) throw missing()
  return { ...row, project, facts }
}

/** An issue by its id, with the facts of the caller; undefined if the caller may not read it. Two statements. */
export async function loadIssueById(id: number, ctx: Ctx): Promise<IssueSubject | undefined> {
  const row = await findIssueById(ctx.db, ctx.actor, id)
  const project = row && (await loadProject(String(row.project_id), ctx))
  const facts = project && issueFacts(row, project)
  return facts && allows(issuePolicy.read_project, ctx.actor, facts) && allows(issuePolicy.read_issue, ctx.actor, facts)
    ? { ...row, project, facts }
    : undefined
}

/** An issue with the facts that most operations need. */
export const issue = subject({
  what: 'Project',
  params: Params({
    id: Text({ description: 'ID or full path of the project' }),
    issue_iid: Id({ description: 'Number of the issue within the project' }),
  }),
  policy: issuePolicy,
  visible: 'read_project',
  load: (path, ctx) => loadIssue(path, ctx),
})

/** Compat: the same for calls that report a missing issue as `404 Issue Not Found`, which clients expect of them. */
export const namedIssue = subject({ ...issue, load: (path, ctx) => loadIssue(path, ctx, issueNotFound) })
