import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { PortableRecord, Relation } from '../../../db/portable/relation.ts'
import {
  createImportedGroup,
  type GroupRow,
  groupMembers,
  groupToFill,
  placeImportedGroups,
} from '../../groups/index.ts'
import { type Avatar, lockAccessAtLast, namespacePlaced, saveAvatar } from '../../namespaces/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import { groupRelations } from '../layout/relations.ts'
import type { People } from '../records/people.ts'
import type { Importing } from '../records/read-records.ts'
import { importRelations, permittedTo, type RecordSource } from './own-records.ts'
import { hold, type Unheld } from './repositories.ts'

/** An archive of a group that was checked. */
export type PreparedGroup = {
  readonly importer: Ctx
  /** The first one is the group itself; others have the line of their parent. */
  readonly groups: readonly PortableRecord[]
  readonly records: RecordSource
  readonly people: People
  /** By the lines of their groups. */
  readonly avatars: ReadonlyMap<number, Avatar>
  /** By the lines of their groups. */
  readonly wikis: ReadonlyMap<number, Unheld>
  /** What was left out already, with counts. */
  readonly leftOut: ReadonlyMap<string, number>
}

/** Relations that may be imported by the importer. */
export const groupRelationsFor = (importer: Ctx): readonly Relation[] => permittedTo(importer, groupRelations)

/** Fills an empty group, and creates the groups below it, in one transaction. Returns what was left out, with counts. */
export async function importGroup(
  ctx: Ctx,
  tx: Tx,
  rootId: number,
  prepared: PreparedGroup,
): Promise<ReadonlyMap<string, number>> {
  const { importer, records } = prepared
  const made = await createGroups(tx, rootId, prepared)
  const importing: Importing = {
    tx,
    holder: { of: 'group', id: rootId },
    people: prepared.people,
    ids: new Map([['groups', [notALine, ...made.map(({ id }) => id)]]]),
    leftOut: new Map(prepared.leftOut),
  }
  const relations = groupRelationsFor(importer)
  await importRelations(
    records,
    relations.filter((relation) => relation !== groupMembers),
    importing,
  )
  // As late as possible, because every change of a membership waits for this lock.
  await lockAccessAtLast(tx)
  const refused = await placeImportedGroups(importer, tx, made, prepared.groups[0]!)
  if (refused) throw new ArchiveRefusal(`groups, line 1: ${refused.refused}`)
  const avatar = prepared.avatars.get(1)
  if (avatar) await saveAvatar(tx, 'group', rootId, avatar)
  if (relations.includes(groupMembers)) await importRelations(records, [groupMembers], importing)
  await namespacePlaced(tx, rootId)
  ctx.log.info({ group_id: rootId, groups: made.length }, 'imported a group')
  return importing.leftOut
}

/** Lines count from 1. */
const notALine = 0

/** The groups of the archive by their lines, of which the first exists and stays as it is until all are placed. */
async function createGroups(
  tx: Tx,
  rootId: number,
  { importer, groups, avatars, wikis }: PreparedGroup,
): Promise<[GroupRow, ...GroupRow[]]> {
  const root = await groupToFill(importer, tx, rootId, groups[0]!)
  if (!root) throw new ArchiveRefusal('The group no longer exists')
  const made: [GroupRow, ...GroupRow[]] = [root]
  for (const [index, given] of groups.entries()) {
    const line = index + 1
    if (index > 0) {
      const parent = made[Number(given['parent']) - 1]
      if (!parent) throw new ArchiveRefusal(`groups, line ${line}: parent is not valid`)
      const group = await createImportedGroup(importer, tx, parent, given)
      if ('refused' in group) throw new ArchiveRefusal(`groups, line ${line}: ${group.refused}`)
      made.push(group)
      const avatar = avatars.get(line)
      if (avatar) await saveAvatar(tx, 'group', group.id, avatar)
    }
    const wiki = wikis.get(line)
    if (wiki) await hold(tx, wiki, { kind: 'group_wiki', id: made[index]!.id })
  }
  return made
}
