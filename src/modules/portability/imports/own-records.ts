import type { Ctx } from '../../../api/ctx.ts'
import type { Relation } from '../../../db/portable/relation.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import { checkRecord, type Importing, importRecords, type Line, recordsIn } from '../records/read-records.ts'
import { fromOlderComments, olderComments } from './older-comments.ts'

/** Where the records of relations come from. */
export type RecordSource = {
  /** The records of a relation, in their order; undefined if the archive has none. */
  of(relation: Relation): AsyncIterable<Line> | undefined
}

/** The records of an archive of ours. `entryOf` names the file of a relation. */
export const ownRecords = (unpacked: Unpacked, entryOf: (name: string) => string): RecordSource => ({
  of({ name }) {
    const file = unpacked.get(entryOf(name))
    if (file) return recordsIn(file.path, name)
    const convert = Object.hasOwn(fromOlderComments, name) ? fromOlderComments[name] : undefined
    const older = convert && unpacked.get(entryOf(olderComments))
    return older && convert(recordsIn(older.path, olderComments))
  },
})

/** Those of the relations that the importer may import. */
export const permittedTo = (importer: Ctx, relations: readonly Relation[]): readonly Relation[] =>
  importer.actor?.admin ? relations : relations.filter(({ administrators }) => administrators === undefined)

/**
 * Maximum records of an archive, unless an administrator imports it. All are stored in one transaction, for which readers of the event
 * log wait.
 */
const maxRecords = 3_000_000

/** Checks every record, before anything is stored. Throws `ArchiveRefusal`. */
export async function checkRecords(
  source: RecordSource,
  relations: readonly Relation[],
  { isAdministrator }: { readonly isAdministrator: boolean },
): Promise<void> {
  let count = 0
  for (const relation of relations) {
    const lines = source.of(relation)
    if (!lines) continue
    for await (const line of lines) {
      checkRecord(relation, line)
      if (++count > maxRecords && !isAdministrator)
        throw new ArchiveRefusal(`The archive has more than ${maxRecords} records: an administrator can import it`)
    }
  }
}

/** Inserts all records, which were checked, in the order of the relations. */
export async function importRelations(
  source: RecordSource,
  relations: readonly Relation[],
  importing: Importing,
): Promise<void> {
  for (const relation of relations) {
    const lines = source.of(relation)
    if (lines) await importRecords(relation, lines, importing)
    else importing.ids.set(relation.name, [])
  }
  for (const { name, after, refuse } of relations) {
    for (const statement of after?.(importing.holder) ?? []) await importing.tx.run(statement)
    const refused = refuse ? await importing.tx.run(refuse(importing.holder)) : 0
    if (refused > 0) importing.leftOut.set(name, (importing.leftOut.get(name) ?? 0) + refused)
  }
}
