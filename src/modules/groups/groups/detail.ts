import { textsOf } from '../../../api/cached-records.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { presentAll } from '../../../api/entity.ts'
import { fetchStamps } from '../../../api/page.ts'
import { RecordText } from '../../../api/record-texts.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { cachedProjects, cachedSimpleProjects, listProjects } from '../../projects/index.ts'
import { GroupDetail } from './entity.ts'
import { findGroup, type GroupRow } from './queries.ts'

/** Maximum projects in the record of a group, unless the setting lifts it. */
const shown = 100
const shownWithoutLimit = 10_000

/** The record of a group, see `detailOf`. */
export async function getDetail(
  ctx: Ctx,
  id: number,
  { withProjects = true, customAttributes = false } = {},
): Promise<GroupRow | RecordText> {
  const row = await findGroup(ctx.db, ctx.actor, id, { customAttributes })
  if (!row) throw rowNotFound()
  return withProjects ? detailOf(ctx, row) : row
}

/**
 * The record of a group with the first projects in it and shared with it. Anonymous callers get simple project records,
 * as in lists. The projects are cached as text.
 */
export async function detailOf(ctx: Ctx, row: GroupRow): Promise<RecordText> {
  const form = ctx.actor === null ? cachedSimpleProjects : cachedProjects
  const place = { of: 'group', groupId: row.id, traversalIds: row.traversal_ids, includeSubgroups: false } as const
  const page = {
    page: 1,
    perPage: ctx.settings.limit_projects_in_groups_api ? shown : shownWithoutLimit,
    keyset: false,
  }
  const texts = async (shared: 'without' | 'only') => {
    const filters = { order_by: 'created_at', sort: 'desc' } as const
    const list = listProjects(ctx.actor, { ...place, shared }, filters, 'stamps')
    return textsOf(form, (await fetchStamps(ctx.db, list, page)).rows, ctx)
  }
  const [projects, shared] = await Promise.all([texts('without'), texts('only')])
  const [record] = await presentAll(GroupDetail, [row], ctx)
  return RecordText.withLists(record!, { projects, shared_projects: shared })
}
