import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import { visibleGroups } from '../../namespaces/index.ts'

export type ProjectGroupFilters = {
  search?: string
  skip_groups?: number[]
  /** Include groups that the project is shared with. */
  with_shared: boolean
  /** Of those, only groups that the caller sees. */
  shared_visible_only: boolean
  /** Of those, only shares with at least this level. */
  shared_min_access_level?: number
}

/**
 * Visible groups above a project and, with `with_shared`, those it is shared with; maintainers, who manage shares, see
 * all of these. By id.
 */
export function groupsOfProject(
  caller: Caller,
  project: { id: number; namespace_id: number },
  maintains: boolean,
  filters: ProjectGroupFilters,
): List {
  const around = sql`
    (
      g.id = any(array(select unnest(n.traversal_ids) from namespaces n where n.id = ${project.namespace_id}))
      and ${visibleGroups(caller)}
    )
  `
  const shares: Sql[] = [sql`l.project_id = ${project.id} and ${unexpired('l')}`]
  if (filters.shared_min_access_level !== undefined)
    shares.push(sql`l.group_access >= ${filters.shared_min_access_level}`)
  const shared = sql`
    (
      g.id = any(
        array(select l.group_id from project_group_links l where ${shares.reduce((all, one) => sql`${all} and ${one}`)})
      )
      and ${maintains && !filters.shared_visible_only ? raw('true') : visibleGroups(caller)}
    )
  `
  return {
    type: 'Group',
    select: raw('select g.id, g.name, g.full_name, g.full_path, g.avatar from namespaces g'),
    from: raw('from namespaces g'),
    where: [
      raw(`g.kind = 'group' and not g.deleting`),
      filters.with_shared ? sql`(${around} or ${shared})` : around,
      ...(filters.search?.trim() ? [fuzzy(filters.search, ['g.name', 'g.path'])] : []),
      ...(filters.skip_groups?.length ? [sql`g.id <> all(${filters.skip_groups}::bigint[])`] : []),
    ],
    order: [{ by: raw('g.id'), direction: 'asc' }],
    keyset: { direction: 'asc' },
  }
}
