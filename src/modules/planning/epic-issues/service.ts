import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { forbidden, invalid, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { holdPlace } from '../../groups/index.ts'
import { findLink, findLinkOfIssue, type LinkRow } from '../epic-links/queries.ts'
import { changeEpicOfIssue } from '../epic-links/service.ts'
import { getEpic } from '../epics/detail.ts'
import { lockEpic } from '../epics/queries.ts'
import { type NextTo, placeNextTo } from '../epics/sibling-queries.ts'
import { type EpicSubject, epicNotFound } from '../epics/subject.ts'
import type { IssueShown } from '../issues/entity.ts'
import { emitIssue } from '../issues/events.ts'
import { lockIssue, touchIssue } from '../issues/queries.ts'
import { findIssueRecord } from '../issues/record-queries.ts'
import { type IssueSubject, issueNotFound, loadIssueById } from '../issues/subject.ts'
import type { EpicIssueShown } from './entity.ts'
import { epicIssueRow, issuesOfEpic } from './queries.ts'

/** A page of the issues of an epic that the caller may read, in their order. */
export async function issuesPage(
  ctx: Ctx,
  { id, group }: EpicSubject,
  page: Page,
): Promise<Paged<IssueShown & { readonly link: { readonly id: number; readonly relative_position: number } }>> {
  const found = await fetchPage(ctx.db, epicIssueRow, issuesOfEpic(ctx.actor, id), page)
  const within = { of: 'group', full_path: group.full_path } as const
  return {
    ...found,
    rows: found.rows.map(({ epic_issue_id, relative_position, ...issue }) => ({
      issue,
      within,
      link: { id: epic_issue_id, relative_position },
    })),
  }
}

async function show(ctx: Ctx, epicId: number, link: LinkRow): Promise<EpicIssueShown> {
  const [epic, issue] = [await getEpic(ctx, epicId), await findIssueRecord(ctx.db, ctx.actor, link.issue_id)]
  if (!issue) throw issueNotFound()
  return { link, epic, issue: { issue, within: epic.within } }
}

/** An issue that the caller may administer, by its id. */
async function administeredIssue(ctx: Ctx, id: number): Promise<IssueSubject> {
  const found = await loadIssueById(id, ctx)
  if (!found) throw issueNotFound()
  if (!allows(issuePolicy.admin_issue, ctx.actor, found.facts)) throw forbidden()
  return found
}

/** Puts an issue into an epic, or takes it out of it. Resolves to the link after the change, or to the one before. */
async function change(ctx: Ctx, epic: EpicSubject, issue: IssueSubject, epicId: number | null): Promise<LinkRow> {
  const actorId = ctx.actor!.id
  return ctx.transaction(async (tx) => {
    await holdPlace(tx, { of: 'project', id: issue.project_id })
    if (!(await lockIssue(tx, issue.id))) throw issueNotFound()
    await administeredIssue({ ...ctx, db: tx }, issue.id)
    const was = await findLinkOfIssue(tx, issue.id)
    if (epicId === null && was?.epic_id !== epic.id) throw rowNotFound()
    const now = await changeEpicOfIssue(tx, ctx, issue, epicId)
    if (was?.epic_id !== now?.epic_id) {
      await touchIssue(tx, issue.id)
      const changes = { epic_id: [was?.epic_id ?? null, now?.epic_id ?? null] } as const
      await emitIssue(tx, issue.id, { kind: 'issue_updated', actorId, changes })
    }
    return (now ?? was)!
  })
}

/** Puts an issue at the end of an epic. Does nothing if it is there. */
export async function addIssue(ctx: Ctx, epic: EpicSubject, issueId: number): Promise<EpicIssueShown> {
  const issue = await administeredIssue(ctx, issueId)
  return show(ctx, epic.id, await change(ctx, epic, issue, epic.id))
}

const linkNotFound = () => notFound('Epic Issue')

/** The link of an epic, with its issue, which the caller may administer. */
async function getLink(
  ctx: Ctx,
  epic: EpicSubject,
  id: number,
): Promise<{ readonly link: LinkRow; readonly issue: IssueSubject }> {
  const link = await findLink(ctx.db, epic.id, id)
  const issue = link && (await loadIssueById(link.issue_id, ctx))
  if (!issue) throw linkNotFound()
  if (!allows(issuePolicy.admin_issue, ctx.actor, issue.facts)) throw forbidden()
  return { link, issue }
}

/** Takes an issue out of an epic. Returns the link as it was. */
export async function removeIssue(ctx: Ctx, epic: EpicSubject, linkId: number): Promise<EpicIssueShown> {
  const { link, issue } = await getLink(ctx, epic, linkId)
  const shown = await show(ctx, epic.id, link)
  await change(ctx, epic, issue, null)
  return shown
}

/** Moves an issue of an epic next to another one. The neighbours are named by the ids of their links. */
export async function placeIssue(ctx: Ctx, epic: EpicSubject, linkId: number, next: NextTo): Promise<void> {
  const { issue } = await getLink(ctx, epic, linkId)
  const neighbour = next.before ?? next.after
  if (neighbour === linkId) throw invalid('An issue cannot be moved next to itself')
  await ctx.transaction(async (tx) => {
    if (!(await lockEpic(tx, epic.id))) throw epicNotFound()
    await administeredIssue({ ...ctx, db: tx }, issue.id)
    for (const id of [linkId, neighbour!]) if (!(await findLink(tx, epic.id, id))) throw linkNotFound()
    await placeNextTo(tx, 'issues', epic.id, linkId, next)
  })
}
