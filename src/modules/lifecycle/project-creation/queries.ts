import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'
import { readableCode, visibleProjects } from '../../projects/index.ts'

/** Group of the templates: only its own projects, or those of its subgroups too. */
export type TemplateGroup = { readonly id: number; readonly withSubgroups: boolean }

/**
 * A project of the group by id, name or path (ignoring case; the oldest if several match), if the caller may read its
 * code. A project that is still being imported is not a template.
 */
export const findTemplate = (
  db: Db,
  caller: Caller,
  group: TemplateGroup,
  template: number | string,
): Promise<{ id: number } | undefined> =>
  db.row(
    { id: integer },
    sql`
      select p.id
      from projects p
      where p.namespace_id in (
          select d.id
          from namespaces g
            join namespaces d on ${
              group.withSubgroups ? within(raw('d.traversal_ids'), raw('g.traversal_ids')) : raw('d.id = g.id')
            }
          where g.id = ${group.id} and g.kind = 'group'
        )
        and ${
          typeof template === 'number'
            ? sql`p.id = ${template}`
            : sql`(lower(p.name) = lower(${template}) or lower(p.path) = lower(${template}))`
        }
        and not p.deleting
        and p.import_status not in ('scheduled', 'started')
        and ${visibleProjects(caller)}
        and ${readableCode(caller)}
      order by p.id
      limit 1
    `,
  )
