import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, notNull, nullable, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { TextPosition } from '../positions/position.ts'

/** A suggestion as records show it. */
export type SuggestionRow = {
  readonly id: number
  readonly from_line: number
  readonly to_line: number
  readonly appliable: boolean
  readonly applied: boolean
  readonly from_content: string
  readonly to_content: string
}

/** The suggestions of the note `n`, in the order of its text; null if there are none. */
export const suggestionsJson: Sql = raw(`
  case when n.position is not null then (
    select json_agg(
      json_build_object(
        'id', s.id, 'from_line', s.from_line + s.shift, 'to_line', s.to_line + s.shift, 'appliable',
        not s.applied and not s.outdated and o.state = 'opened' and o.source_project_id is not null, 'applied',
        s.applied, 'from_content', s.from_content, 'to_content', s.to_content
      )
      order by s.id
    )
    from suggestions s join merge_requests o on o.id = n.merge_request_id
    where s.note_id = n.id
  ) end
`)

/** A suggestion for lines of a file. */
export type NewSuggestion = {
  readonly fromLine: number
  readonly toLine: number
  readonly shift: number
  readonly outdated: boolean
  readonly fromContent: string
  readonly toContent: string
}

/** Stores the suggestions of a note, in their order. */
export const insertSuggestions = (tx: Tx, noteId: number, suggestions: readonly NewSuggestion[]): Promise<number> =>
  tx.run(sql`
    insert into suggestions (note_id, from_line, to_line, shift, outdated, from_content, to_content)
    select ${noteId}, s."fromLine", s."toLine", s.shift, s.outdated, s."fromContent", s."toContent"
    from rows
    from (
      jsonb_to_recordset(${JSON.stringify(suggestions)}::jsonb) as (
        "fromLine" integer, "toLine" integer, shift integer, outdated boolean, "fromContent" text, "toContent" text
      )
    ) with ordinality as s("fromLine", "toLine", shift, outdated, "fromContent", "toContent", place)
    order by s.place
  `)

/** The suggestions of a note, in the order of its text. */
export const suggestionsOfNote = async (tx: Tx, noteId: number): Promise<readonly SuggestionRow[]> =>
  (
    await tx.row(
      { suggestions: nullable(json<SuggestionRow[]>()) },
      sql`select ${suggestionsJson} as suggestions from notes n where n.id = ${noteId}`,
    )
  )?.suggestions ?? []

export const deleteSuggestions = (tx: Tx, noteId: number): Promise<number> =>
  tx.run(sql`delete from suggestions where note_id = ${noteId}`)

/** A suggestion with its note, for applying it. */
export const appliedSuggestionRow = {
  id: integer,
  note_id: integer,
  author_id: integer,
  discussion_id: text,
  merge_request_id: notNull(integer),
  position: notNull(json<TextPosition>()),
  from_line: integer,
  to_line: integer,
  shift: integer,
  from_content: text,
  to_content: text,
  outdated: boolean,
  applied: boolean,
}
export type AppliedSuggestion = RowOf<typeof appliedSuggestionRow>

const suggestions = raw(`
  select s.id, s.note_id, n.author_id, n.discussion_id, n.merge_request_id, n.position, s.from_line, s.to_line, s.shift,
    s.from_content, s.to_content, s.outdated, s.applied
  from suggestions s join notes n on n.id = s.note_id
`)

/** Those of the suggestions that exist, by id. */
export const findSuggestions = (db: Db, ids: readonly number[]): Promise<AppliedSuggestion[]> =>
  db.rows(
    appliedSuggestionRow,
    sql`${suggestions} where s.id = any(${ids}::bigint[]) and n.merge_request_id is not null order by s.id`,
  )

/** The suggestions of a merge request that were not applied, newest first; at most 1,000. */
export const openSuggestions = (db: Db, mergeRequestId: number): Promise<AppliedSuggestion[]> =>
  db.rows(
    appliedSuggestionRow,
    sql`
      ${suggestions}
      where n.merge_request_id = ${mergeRequestId} and n.position is not null and not s.applied
      order by s.id desc
      limit 1000
    `,
  )

/** The records of suggestions, by id. */
export const suggestionRecords = async (db: Db, ids: readonly number[]): Promise<SuggestionRow[]> => {
  const rows = await db.rows(
    { suggestions: notNull(json<SuggestionRow[]>()) },
    sql`
      select ${suggestionsJson} as suggestions
      from notes n
      where n.id in (select note_id from suggestions where id = any(${ids}::bigint[]))
    `,
  )
  return rows
    .flatMap((row) => row.suggestions)
    .filter(({ id }) => ids.includes(id))
    .sort((a, b) => a.id - b.id)
}

/** Where suggestions are in a new head, and whether their lines are other ones there. */
export type Follow = { readonly id: number; readonly shift: number; readonly outdated: boolean }

export const saveFollowed = (tx: Tx, follows: readonly Follow[]): Promise<number> =>
  tx.run(sql`
    update suggestions s
    set shift = f.shift, outdated = f.outdated
    from jsonb_to_recordset(${JSON.stringify(follows)}::jsonb) as f(id bigint, shift integer, outdated boolean)
    where s.id = f.id and not s.applied
  `)

/** Marks those of the suggestions that are not applied as applied by a commit, and returns them by id, with their notes. */
export const saveApplied = (
  tx: Tx,
  ids: readonly number[],
  commit: string,
): Promise<{ id: number; note_id: number; discussion_id: string }[]> =>
  tx.rows(
    { id: integer, note_id: integer, discussion_id: text },
    sql`
      with saved as (
        update suggestions
        set applied = true, commit_oid = ${commit}
        where id = any(${ids}::bigint[]) and not applied
        returning id, note_id
      )
      select s.id, s.note_id, n.discussion_id
      from saved s join notes n on n.id = s.note_id
      order by s.id
    `,
  )
