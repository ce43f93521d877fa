import type { Relation } from '../../../db/portable/relation.ts'
import type { Unpacked } from '../archive/unpack.ts'
import { checkRecord, type Line, recordsIn } from '../records/read-records.ts'

/** Where the records of relations come from. */
export type RecordSource = {
  /** The records of a relation, in their order; undefined if the archive has none. */
  of(relation: Relation): AsyncIterable<Line> | undefined
}

/** The records of an archive of ours. `entryOf` names the file of a relation. */
export const ownRecords = (unpacked: Unpacked, entryOf: (name: string) => string): RecordSource => ({
  of({ name }) {
    const file = unpacked.get(entryOf(name))
    return file && recordsIn(file.path, name)
  },
})

/** Checks every record, before anything is stored. Throws `ArchiveRefusal`. */
export async function checkRecords(source: RecordSource, relations: readonly Relation[]): Promise<void> {
  for (const relation of relations) {
    const lines = source.of(relation)
    if (lines) for await (const line of lines) checkRecord(relation, line)
  }
}
