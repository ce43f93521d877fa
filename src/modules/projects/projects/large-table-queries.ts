import { raw, type Sql, sql } from '../../../db/sql.ts'

/** A table that may have very many rows of one project, which are deleted in batches before the project itself. */
export type LargeTable = {
  readonly table: string
  /** The rows of a project. */
  readonly rowsOf: (projectId: number) => Sql
  /** Few, if each row has others that are deleted with it. */
  readonly atOnce?: number
}

/** Rows with the id of the project. */
const direct = (table: string, atOnce?: number): LargeTable => ({
  table,
  rowsOf: (projectId) => sql`project_id = ${projectId}`,
  ...(atOnce !== undefined && { atOnce }),
})

/** Rows with the id of something that belongs to the project, of which there are few. */
const through = (table: string, column: string, owners: string): LargeTable => ({
  table,
  rowsOf: (projectId) => sql`
    ${raw(column)} = any(array(select o.id from ${raw(owners)} o where o.project_id = ${projectId}))
  `,
})

/** In an order that leaves no row without what it refers to, and few for the cascades of later ones. */
export const largeTables: readonly LargeTable[] = [
  direct('notes'),
  { table: 'notes', rowsOf: (projectId) => sql`source_project_id = ${projectId}` },
  direct('issues', 100),
  direct('merge_requests', 100),
  direct('commented_commits', 100),
  direct('snippets', 100),
  direct('todos'),
  direct('commit_statuses'),
  direct('pipelines'),
  direct('deployments'),
  direct('environments'),
  direct('pushes', 100),
  direct('feed_events'),
  direct('commit_signatures'),
  direct('large_files'),
  direct('uploads'),
  direct('releases'),
  direct('stars'),
  through('hook_deliveries', 'hook_id', 'hooks'),
  ...['tag_history', 'tags', 'manifest_children', 'manifest_blobs', 'manifests', 'blobs'].map((rows) =>
    through(`container_${rows}`, 'repository_id', 'container_repositories'),
  ),
]
