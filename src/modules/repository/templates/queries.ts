import { featureLevels, levels } from '../../../access/levels.ts'
import type { Db } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { raw, sql, unexpired } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'

export const templateProjectRow = {
  id: integer,
  repository_storage: text,
  repository_key: text,
  default_branch: nullable(text),
}
export type TemplateProjectRow = RowOf<typeof templateProjectRow>

/**
 * Projects with template files: of the groups above a namespace, nearest first, then of the installation. The project
 * of a group counts while it is in the group, or shared with it with access to code. None counts while its repository
 * is disabled: readers of templates may have no access to the project itself.
 */
export const templateProjects = (
  db: Db,
  namespaceId: number | null,
  installations: number | null,
): Promise<TemplateProjectRow[]> =>
  db.rows(
    templateProjectRow,
    sql`
      select p.id, p.repository_storage, p.repository_key, p.default_branch
      from (
          select g.file_template_project_id as id, cardinality(g.traversal_ids) as depth, g.id as group_id,
            g.traversal_ids
          from namespaces n join namespaces g on g.id = any(n.traversal_ids)
          where n.id = ${namespaceId}::bigint and g.file_template_project_id is not null
          union all
          select ${installations}::bigint, 0, null, null
        ) as named
        join projects p on p.id = named.id
        join namespaces o on o.id = p.namespace_id
      where not p.deleting
        and p.default_branch is not null
        and p.repository_access_level > ${featureLevels.disabled}
        and (
          named.group_id is null
          or ${within(raw('o.traversal_ids'), raw('named.traversal_ids'))}
          or exists (
            select
            from project_group_links l
            where l.project_id = p.id
              and l.group_id = named.group_id
              and l.group_access >= ${levels.reporter}
              and ${unexpired('l')}
          )
        )
      order by named.depth desc
    `,
  )
