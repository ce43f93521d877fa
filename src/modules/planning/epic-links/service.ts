import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { invalid } from '../../../kernel/failure.ts'
import { addNotesOnBothSides, noteableAs } from '../../discussion/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { asNamed } from '../epics/noteable.ts'
import { findEpic, lockEpic } from '../epics/queries.ts'
import { epicNotFound } from '../epics/subject.ts'
import { changeableEpic } from '../epics/tree.ts'
import { findNamedEpic, type NamedEpicRow } from '../epics/tree-queries.ts'
import { countIssuesOf, deleteLink, findLinkOfIssue, type LinkRow, saveLink } from './queries.ts'

/** Maximum issues of one epic. */
const mostIssues = 5000

/** An issue with what references name it by. */
export type LinkedIssue = {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly project: { readonly full_path: string }
}

/** How a request names the epic of an issue: by id, or by number in the group of the project. Null or 0 is none. */
export type EpicChoice = {
  readonly epic_id?: number | null | undefined
  readonly epic_iid?: number | null | undefined
}

/** The id of the epic that a request names, which the caller must be allowed to change; undefined if it names none. */
export async function chosenEpic(
  ctx: Ctx,
  { namespace_id }: Pick<ProjectSubject, 'namespace_id'>,
  { epic_id, epic_iid }: EpicChoice,
): Promise<number | null | undefined> {
  if (epic_id !== undefined) return epic_id ? (await changeableEpic(ctx, epic_id)).id : null
  if (epic_iid === undefined) return undefined
  if (!epic_iid) return null
  const found = await findEpic(ctx.db, ctx.actor, namespace_id, epic_iid)
  if (!found) throw epicNotFound()
  return (await changeableEpic(ctx, found.id)).id
}

/**
 * Puts an issue, whose row is locked and whose project is kept in its place (`holdPlace`), into an epic, or takes it out of its epic, with
 * notes on both sides. Throws if the caller may not change the epic. Undefined if it has no epic afterwards.
 */
export async function changeEpicOfIssue(
  tx: Tx,
  ctx: Ctx,
  issue: LinkedIssue,
  epicId: number | null,
): Promise<LinkRow | undefined> {
  const actorId = ctx.actor!.id
  const was = await findLinkOfIssue(tx, issue.id)
  if ((was?.epic_id ?? null) === epicId) return was
  const before = was && (await findNamedEpic(tx, was.epic_id))
  if (before) await noteBoth(tx, actorId, issue, before, ['removed from', 'removed'])
  if (epicId === null) {
    await deleteLink(tx, issue.id)
    return undefined
  }
  if (!(await lockEpic(tx, epicId))) throw epicNotFound()
  await changeableEpic({ ...ctx, db: tx }, epicId)
  if ((await countIssuesOf(tx, epicId)) >= mostIssues) throw invalid(`An epic can have ${mostIssues} issues`)
  const link = await saveLink(tx, epicId, issue.id)
  if (!link) throw invalid('The group of the epic must be above the project of the issue')
  await noteBoth(tx, actorId, issue, (await findNamedEpic(tx, epicId))!, ['added to', 'added'])
  return link
}

const issueAsNoteable = noteableAs('Issue')

/** Adds a note to the issue and one to the epic. */
const noteBoth = (
  tx: Tx,
  authorId: number,
  issue: LinkedIssue,
  epic: NamedEpicRow,
  [onIssue, onEpic]: readonly [string, string],
): Promise<void> =>
  addNotesOnBothSides(tx, authorId, [
    {
      on: { ...issueAsNoteable(issue), iid: issue.iid, full_path: issue.project.full_path },
      text: (name) => `${onIssue} epic ${name}`,
    },
    { on: asNamed(epic), text: (name) => `${onEpic} issue ${name}` },
  ])
