import type { Db } from '../../db/db.ts'
import { sql } from '../../db/sql.ts'

export type TemplateProjectRow = {
  id: number
  repository_storage: string
  repository_key: string
  default_branch: string | null
}

/**
 * Projects whose files are templates: those of the groups around a namespace, the nearest first, and that of the
 * installation at the end.
 */
export const templateProjects = (
  db: Db,
  namespaceId: number | null,
  installations: number | null,
): Promise<TemplateProjectRow[]> =>
  db.rows<TemplateProjectRow>(sql`
    select p.id, p.repository_storage, p.repository_key, p.default_branch
    from (
      select g.file_template_project_id as id, cardinality(g.traversal_ids) as depth
      from namespaces n join namespaces g on g.id = any(n.traversal_ids)
      where n.id = ${namespaceId}::bigint and g.file_template_project_id is not null
      union all select ${installations}::bigint, 0) as named
    join projects p on p.id = named.id
    where not p.deleting and p.default_branch is not null
    order by named.depth desc`)
