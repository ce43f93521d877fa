import type { Tx } from '../../../db/db.ts'
import { join, raw, type Sql, sql } from '../../../db/sql.ts'
import { columnOf, labelsTableOf, type ScheduledType, scheduledTypes, tableOf } from '../../discussion/index.ts'
import { type Moved, reaching } from '../../groups/index.ts'
import { type LabelUse, labelUseRow } from '../order-copies/queries.ts'

/** Uses of group labels `l` in moved projects that the projects can no longer use: rows (project_id, label_id). */
const usesOf = ({ projects, leftGroups }: Moved): Sql => sql`
  ${join(
    scheduledTypes.map(
      (type) => sql`
        select m.project_id, l.id as label_id
        from labels l
          join ${labelsTableOf(type)} ml on ml.label_id = l.id
          join ${tableOf(type)} m on m.id = ml.${columnOf(type)}
        where l.namespace_id = any(${leftGroups}::bigint[]) and m.project_id in (${projects})
        union
      `,
    ),
    ' ',
  )}
  select lp.project_id, l.id
  from labels l join label_priorities lp on lp.label_id = l.id
  where l.namespace_id = any(${leftGroups}::bigint[]) and lp.project_id in (${projects})
  union
  select b.project_id, l.id
  from labels l
    join (
      select board_id, label_id from board_lists union all select board_id, label_id from board_labels
    ) as on_board on on_board.label_id = l.id
    join boards b on b.id = on_board.board_id
  where l.namespace_id = any(${leftGroups}::bigint[]) and b.project_id in (${projects})
`

/** Copies the labels that the projects use and can no longer use, unless a label of the title is available. */
export const copyLeftLabels = (tx: Tx, moved: Moved): Promise<number> =>
  tx.run(sql`
    insert into labels (project_id, title, color, description)
    select distinct on (used.project_id, old.title) used.project_id, old.title, old.color, old.description
    from (${usesOf(moved)}) as used join labels old on old.id = used.label_id
    where not exists (select from labels l where l.title = old.title and ${reaching('l', raw('used.project_id'))})
    order by used.project_id, old.title, old.id
    on conflict (project_id, title) where project_id is not null do nothing
  `)

/** Parts of a statement that replace labels `replaced` of noteables of this kind, and in their label events. */
function replacementIn(type: ScheduledType): Sql {
  const [table, column] = [labelsTableOf(type), columnOf(type)]
  return sql`
    removed_${column} as (
      delete from ${table} ml using ${tableOf(type)} m, replaced r
      where m.id = ml.${column} and r.project_id = m.project_id and r.old_id = ml.label_id
      returning ml.${column}, r.new_id
    ),
    added_${column} as (
      insert into ${table} (${column}, label_id)
      select ${column}, new_id
      from removed_${column}
        -- Triggers lock them.
      order by ${column}
      on conflict do nothing
    ),
    events_${column} as (
      update label_events e
      set label_id = r.new_id
      from ${tableOf(type)} m, replaced r
      where m.id = e.${column} and r.project_id = m.project_id and r.old_id = e.label_id
    ),
  `
}

/**
 * Replaces labels that the projects can no longer use by the available ones of the same title. Returns those that got a priority in a
 * project.
 */
export const replaceLeftLabels = (tx: Tx, moved: Moved): Promise<LabelUse[]> =>
  tx.rows(
    labelUseRow,
    sql`
      with replaced as (
        select distinct on (used.project_id, used.label_id) used.project_id, used.label_id as old_id,
          l.id as new_id
        from (${usesOf(moved)}) as used
          join labels old on old.id = used.label_id
          join labels l on l.title = old.title and ${reaching('l', raw('used.project_id'))}
          left join namespaces g on g.id = l.namespace_id
        order by used.project_id, used.label_id, l.project_id is null, cardinality(g.traversal_ids) desc
      ),
      ${join(scheduledTypes.map(replacementIn), ' ')} removed_priorities as (
        delete from label_priorities lp using replaced r
        where r.project_id = lp.project_id and r.old_id = lp.label_id
        returning lp.project_id, r.new_id, lp.priority
      )
      insert into label_priorities (project_id, label_id, priority)
      select project_id, new_id, priority
      from removed_priorities
      on conflict do nothing
      returning project_id, label_id
    `,
  )
