import { type Sql, sql } from '../../db/sql.ts'

/** A label as other records carry it. */
export type LabelReferenceRow = {
  readonly id: number
  readonly name: string
  readonly color: string
  readonly description: string | null
}

/** The label `alias` as one JSON value: `LabelReferenceRow`. */
export const labelJson = (alias: Sql): Sql =>
  sql`json_build_object('id', ${alias}.id, 'name', ${alias}.title, 'color', ${alias}.color, 'description', ${alias}.description)`

/** The labels of a merge request as one JSON value: `LabelReferenceRow[]`, by title. */
export const labelsJson = (
  mergeRequestId: Sql,
): Sql => sql`(select coalesce(json_agg(${labelJson(sql`l`)} order by l.title, l.id), '[]')
  from merge_request_labels ml join labels l on l.id = ml.label_id where ml.merge_request_id = ${mergeRequestId})`
