import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { group } from '../../groups/index.ts'
import { Epic } from '../epics/entity.ts'
import { epicRecordRow } from '../epics/record-queries.ts'
import { filtersOf, listParams, orderOf } from './params.ts'
import { listEpics } from './queries.ts'

export const epicListRoutes = [
  endpoint({
    method: 'GET',
    path: '/groups/:id/epics',
    summary: 'List epics of a group',
    description: 'Includes epics of subgroups unless `include_descendant_groups` is false.',
    tier: 'ultimate',
    subject: group,
    allow: 'list_epics',
    params: listParams,
    paged: true,
    returns: Epic,
    async handle({ subject: { id, traversal_ids, full_path }, params, page, ctx }) {
      const groups = {
        id,
        traversalIds: traversal_ids,
        ancestors: params.include_ancestor_groups,
        descendants: params.include_descendant_groups,
      }
      const list = listEpics(ctx.actor, groups, filtersOf(params, ctx.plan), orderOf(params))
      const found = await fetchPage(ctx.db, epicRecordRow, list, page)
      const how = { within: { of: 'group', full_path } as const, labelDetails: params.with_labels_details }
      return { ...found, rows: found.rows.map((epic) => ({ epic, ...how })) }
    },
  }),
]
