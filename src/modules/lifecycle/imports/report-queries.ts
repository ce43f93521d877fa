import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** Something that an import left out, in the form of the API. */
export type FailedRelation = {
  readonly id: number
  readonly created_at: string
  readonly exception_class: string
  readonly exception_message: string
  readonly source: string
  readonly relation_name: string
}

/** How many objects of each kind were read, and how many of them were stored. */
export type ImportCounts = {
  readonly fetched: Readonly<Record<string, number>>
  readonly imported: Readonly<Record<string, number>>
}

/** What is known of an import beside its state. */
export type ImportReport = {
  /** Where it comes from: a value of the setting `import_sources`. */
  readonly type: string
  readonly stats?: ImportCounts
  readonly failedRelations?: readonly FailedRelation[]
}

/** Stores the report of an import, in place of an earlier one. The project exists. */
export const saveImportReport = (
  tx: Tx,
  projectId: number,
  { type, stats, failedRelations = [] }: ImportReport,
): Promise<number> =>
  tx.run(sql`
    insert into import_reports (project_id, import_type, stats, failed_relations)
    values (
      ${projectId}, ${type}, ${stats ? JSON.stringify(stats) : null}::jsonb,
      ${JSON.stringify(failedRelations)}::jsonb
    )
    on conflict (project_id) do update
      set import_type = excluded.import_type, stats = excluded.stats, failed_relations = excluded.failed_relations
  `)
