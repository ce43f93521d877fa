import { epicPolicy } from '../../../access/epic-policy.ts'
import { groupPolicy } from '../../../access/group-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { Failure, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { type GroupSubject, group, loadGroup } from '../../groups/index.ts'
import { type EpicRow, findEpic, findEpicById, findEpicByIidOrId } from './queries.ts'

export type EpicSubject = EpicRow & { readonly group: GroupSubject; readonly facts: Facts }

/** Facts for `epicPolicy`. */
export const epicFacts = ({ hidden }: EpicRow, { facts }: GroupSubject): Facts => ({
  ...facts,
  flags: { ...facts.flags, hidden },
})

export const epicNotFound = () => notFound('Epic')

/**
 * An epic by its number in the group. Two statements. Callers who cannot read epics of the group, or a confidential epic, cannot find out
 * which numbers exist.
 */
export async function loadEpic(
  { id, epic_iid }: { id: string; epic_iid: number },
  ctx: Ctx,
  missing: () => Failure = rowNotFound,
  find: typeof findEpic = findEpic,
): Promise<EpicSubject | undefined> {
  const held = await group.load({ id }, ctx)
  if (!held || !allows(groupPolicy.read_group, ctx.actor, held.facts)) return undefined
  if (!allows(groupPolicy.list_epics, ctx.actor, held.facts)) throw new Failure('forbidden', 'Forbidden')
  const row = await find(ctx.db, ctx.actor, held.id, epic_iid)
  const facts = row && epicFacts(row, held)
  if (!row || !facts || !allows(epicPolicy.read_epic, ctx.actor, facts)) throw missing()
  return { ...row, group: held, facts }
}

/** An epic by its id, with the facts of the caller; undefined if the caller may not read it. Two statements. */
export async function loadEpicById(id: number, ctx: Ctx): Promise<EpicSubject | undefined> {
  const row = await findEpicById(ctx.db, ctx.actor, id)
  const held = row && (await loadGroup(row.group_id, ctx))
  const facts = held && epicFacts(row, held)
  return facts && allows(epicPolicy.read_group, ctx.actor, facts) && allows(epicPolicy.read_epic, ctx.actor, facts)
    ? { ...row, group: held, facts }
    : undefined
}

/** An epic with the facts that most operations need. */
export const epic = subject({
  what: 'Group',
  params: Params({
    id: Text({ description: 'ID or full path of the group' }),
    epic_iid: Id({ description: 'Number of the epic within the group' }),
  }),
  policy: epicPolicy,
  visible: 'read_group',
  load: (path, ctx) => loadEpic(path, ctx),
})

/** Compat: the same for calls that report a missing epic as `404 Epic Not Found`, which clients expect of them. */
export const namedEpic = subject({ ...epic, load: (path, ctx) => loadEpic(path, ctx, epicNotFound) })

/** Compat: the same for what is said about epics, whose calls clients make with the number of the epic, or with its ID. */
export const epicByIidOrId = subject({
  ...epic,
  params: Params({
    id: Text({ description: 'ID or full path of the group' }),
    epic_iid: Id({ description: 'Number of the epic within the group; if no epic has it, its ID' }),
  }),
  load: (path, ctx) => loadEpic(path, ctx, rowNotFound, findEpicByIidOrId),
})
