import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Holder, PortableRecord, Relation } from '../../../db/portable/relation.ts'
import { createImportedGroup, lockGroup, restoreGroup } from '../../groups/index.ts'
import { type Avatar, lockAccess, namespacePlaced, saveAvatar } from '../../namespaces/index.ts'
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
  const { importer, groups, records, people, avatars, wikis } = prepared
  await lockAccess(tx)
  const root = await lockGroup(tx, rootId)
  if (!root) throw new ArchiveRefusal('The group no longer exists')
  // Line 0 is no record.
  const ids: number[] = [0]
  for (const [index, given] of groups.entries()) {
    const line = index + 1
    const isRoot = index === 0
    const parentId = isRoot ? root.parent_id : ids[Number(given['parent'])]
    if (!isRoot && !parentId) throw new ArchiveRefusal(`groups, line ${line}: parent is not valid`)
    const parent = parentId ? await lockGroup(tx, parentId) : undefined
    const made = isRoot ? rootId : await createImportedGroup(importer, tx, parentId!, given)
    if (typeof made !== 'number') throw new ArchiveRefusal(`groups, line ${line}: ${made.refused}`)
    ids.push(made)
    await restoreGroup(importer, tx, made, given, parent)
    const avatar = avatars.get(line)
    if (avatar) await saveAvatar(tx, 'group', made, avatar)
    const wiki = wikis.get(line)
    if (wiki) await hold(tx, wiki, { kind: 'group_wiki', id: made })
  }
  const holder: Holder = { of: 'group', id: rootId }
  const importing: Importing = {
    tx,
    holder,
    people,
    ids: new Map([['groups', ids]]),
    leftOut: new Map(prepared.leftOut),
  }
  await importRelations(records, groupRelationsFor(importer), importing)
  for (const id of ids.slice(1)) await namespacePlaced(tx, id)
  ctx.log.info({ group_id: rootId, groups: groups.length }, 'imported a group')
  return importing.leftOut
}
