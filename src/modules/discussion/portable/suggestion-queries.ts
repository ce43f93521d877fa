import { flag, oid, orElse, orNull, partOf, whole, words } from '../../../db/portable/columns.ts'
import { type Amending, below, type PortableRecord, type Relation } from '../../../db/portable/relation.ts'
import { raw, sql } from '../../../db/sql.ts'
import { mostOfNote } from '../suggestions/parse.ts'
import { mostReplaced } from '../suggestions/service.ts'

/** Characters of new lines: those of a note, whose line breaks may become two characters each. */
const mostNew = 2_200_000

/** Lines of files, and how far they move: the sum is an integer of the database. */
const mostLines = 1_000_000_000

/** Leaves out what a note cannot have, because its record copies all suggestions. */
function withinNote(record: PortableRecord, { state }: Amending): PortableRecord | undefined {
  const { note, from_content, to_content, from_line, shift } = record
  const counted = (of: string, amount: number): number => {
    const total = (state.get(`${of} ${note}`) ?? 0) + amount
    state.set(`${of} ${note}`, total)
    return total
  }
  const isTooMuch =
    counted('suggestions', 1) > mostOfNote ||
    counted('replaced', String(from_content).length) > mostReplaced ||
    counted('new', String(to_content).length) > mostNew
  if (isTooMuch) return undefined
  return { ...record, shift: Math.max(Number(shift ?? 0), 1 - Number(from_line)) }
}

/** Suggestions in notes of merge requests, which have their texts and positions. */
export const suggestionRelation: Relation = {
  name: 'merge_request_suggestions',
  table: 'suggestions',
  from: raw('from merge_requests m join notes n on n.merge_request_id = m.id join suggestions t on t.note_id = n.id'),
  where: below('merge_requests', 'merge_request_id', 'notes').where,
  order: ['m.iid', 't.note_id', 't.id'],
  columns: {
    note: { ...partOf('merge_request_notes'), column: 'note_id' },
    from_line: whole(1, mostLines),
    to_line: whole(1, mostLines),
    shift: orElse(whole(-mostLines, mostLines), 0),
    outdated: orElse(flag, false),
    from_content: words(mostReplaced),
    to_content: words(mostNew),
    applied: orElse(flag, false),
    commit_oid: orNull(oid),
  },
  amend: withinNote,
  batch: 50,
  after: ({ id }) => [
    // Only lines of a text can be replaced.
    sql`
      delete from suggestions s using notes n
      where n.id = s.note_id
        and n.project_id = ${id}
        and (n.position ->> 'position_type' is distinct from 'text' or n.position ->> 'new_line' is null)
    `,
  ],
}
