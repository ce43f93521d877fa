import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { IssueShown } from './entity.ts'
import { findIssueRecord } from './record-queries.ts'

/** The record of one issue of a project. One statement. */
export async function getIssue(
  ctx: Ctx,
  { id, full_path }: Pick<ProjectSubject, 'id' | 'full_path'>,
  issueId: number,
  how: Pick<IssueShown, 'renderHtml'> = {},
): Promise<IssueShown> {
  const issue = await findIssueRecord(ctx.db, ctx.actor, issueId)
  if (!issue) throw rowNotFound()
  return { issue, within: { of: 'project', id, full_path }, ...how }
}
