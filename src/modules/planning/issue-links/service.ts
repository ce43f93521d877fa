import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { conflict, Failure, forbidden, invalid, rowNotFound } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { addNotesOnBothSides } from '../../discussion/index.ts'
import type { IssueShown } from '../issues/entity.ts'
import { asNamed } from '../issues/noteable.ts'
import { touchIssue } from '../issues/queries.ts'
import { findIssueRecords } from '../issues/record-queries.ts'
import { type IssueSubject, loadIssue, loadIssueById } from '../issues/subject.ts'
import type { LinkShown } from './entity.ts'
import { deleteLink, findLink, insertLink, type LinkRow, type LinkType, mostLinks, readableLinks } from './queries.ts'

/** Maximum links of one issue. */
const maxLinks = 100

/** How the other side sees a link. */
const opposite = {
  relates_to: 'relates_to',
  blocks: 'is_blocked_by',
  is_blocked_by: 'blocks',
} as const satisfies Record<LinkType, LinkType>

const noteAbout = {
  relates_to: 'marked this issue as related to',
  blocks: 'marked this issue as blocking',
  is_blocked_by: 'marked this issue as blocked by',
} as const satisfies Record<LinkType, string>

const withinProject = ({ project }: IssueSubject) =>
  ({ of: 'project', id: project.id, full_path: project.full_path }) as const

/** The links of an issue with the issues on the other side, as far as the caller may read them. Two statements. */
export async function listLinks(ctx: Ctx, issue: IssueSubject): Promise<(IssueShown & { readonly link: LinkRow })[]> {
  const links = await readableLinks(ctx.db, ctx.actor, issue.id)
  const records = await findIssueRecords(
    ctx.db,
    ctx.actor,
    links.map(({ other_id }) => other_id),
  )
  const byId = new Map(records.map((record) => [record.id, record]))
  const within = withinProject(issue)
  return links.flatMap((link) => {
    const record = byId.get(link.other_id)
    return record ? [{ issue: record, within, link }] : []
  })
}

/** One link, if the caller may read the other side. */
export async function getLink(ctx: Ctx, issue: IssueSubject, id: number): Promise<LinkShown> {
  const { link, other } = await loadLink(ctx, issue, id)
  return show(ctx, issue, other, link)
}

async function loadLink(
  ctx: Ctx,
  issue: IssueSubject,
  id: number,
): Promise<{ readonly link: LinkRow; readonly other: IssueSubject }> {
  const link = await findLink(ctx.db, issue.id, id)
  const other = link && (await loadIssueById(link.other_id, ctx))
  if (!other) throw rowNotFound()
  return { link, other }
}

async function show(
  ctx: Ctx,
  issue: IssueSubject,
  other: IssueSubject,
  { id, link_type: type }: Pick<LinkRow, 'id' | 'link_type'>,
): Promise<LinkShown> {
  const records = await findIssueRecords(ctx.db, ctx.actor, [issue.id, other.id])
  const within = withinProject(issue)
  const [source, target] = [issue, other].map((side) => records.find((record) => record.id === side.id))
  if (!source || !target) throw rowNotFound()
  return { id, type, source: { issue: source, within }, target: { issue: target, within } }
}

/**
 * Links an issue to another one, by project and number. The caller must be allowed to administer both. Blocking links require the starter
 * plan.
 */
export async function linkIssue(
  ctx: Ctx,
  issue: IssueSubject,
  target: { readonly project: string; readonly iid: number; readonly type: LinkType },
): Promise<LinkShown> {
  const { type } = target
  if (type !== 'relates_to' && !planOffers(ctx.plan, 'starter'))
    throw new Failure('forbidden', 'Blocked issues not available for current license')
  const other = await loadIssue({ id: target.project, issue_iid: target.iid }, ctx)
  if (!other) throw rowNotFound()
  requireAdmin(ctx, other)
  if (other.id === issue.id) throw invalid('An issue cannot be linked to itself')
  const id = await ctx.transaction(async (tx) => {
    await holdBoth(tx, ctx, issue, other)
    const blocked = type === 'is_blocked_by'
    const made = await insertLink(tx, {
      sourceId: blocked ? other.id : issue.id,
      targetId: blocked ? issue.id : other.id,
      type: blocked ? 'blocks' : type,
    })
    if (made === undefined) throw conflict('Issue(s) already assigned')
    if ((await mostLinks(tx, issue.id, other.id)) > maxLinks)
      throw invalid(`An issue has too many links (maximum is ${maxLinks})`)
    await noteOnBoth(tx, ctx, issue, other, [noteAbout[type], noteAbout[opposite[type]]])
    return made
  })
  return show(ctx, issue, other, { id, link_type: type })
}

/** Deletes a link and returns it. The caller must be allowed to administer both sides. */
export async function unlinkIssue(ctx: Ctx, issue: IssueSubject, id: number): Promise<LinkShown> {
  const { link, other } = await loadLink(ctx, issue, id)
  requireAdmin(ctx, other)
  await ctx.transaction(async (tx) => {
    await holdBoth(tx, ctx, issue, other)
    if (!(await deleteLink(tx, id))) throw rowNotFound()
    await noteOnBoth(tx, ctx, issue, other, ['removed the relation with', 'removed the relation with'])
  })
  return show(ctx, issue, other, link)
}

function requireAdmin(ctx: Ctx, { facts }: IssueSubject): void {
  if (!allows(issuePolicy.admin_issue, ctx.actor, facts)) throw forbidden()
}

/**
 * Locks both issues, in the order of their ids, so that two transactions do not wait for each other. Throws if the caller has lost the
 * permission for one of them meanwhile.
 */
async function holdBoth(tx: Tx, ctx: Ctx, issue: IssueSubject, other: IssueSubject): Promise<void> {
  for (const id of [issue.id, other.id].toSorted((a, b) => a - b)) if (!(await touchIssue(tx, id))) throw rowNotFound()
  await tx.requirePermission?.()
  const now = await loadIssueById(other.id, { ...ctx, db: tx })
  if (!now) throw rowNotFound()
  requireAdmin(ctx, now)
}

/** Adds a note to each side. */
const noteOnBoth = (
  tx: Tx,
  ctx: Ctx,
  issue: IssueSubject,
  other: IssueSubject,
  [here, there]: readonly [here: string, there: string],
): Promise<void> =>
  addNotesOnBothSides(tx, ctx.actor!.id, [
    { on: asNamed(issue), text: (name) => `${here} ${name}` },
    { on: asNamed(other), text: (name) => `${there} ${name}` },
  ])
