import { featureLevels, levels, visibilities } from '../../../access/levels.ts'
import { type Sql, sql } from '../../../db/sql.ts'

const { disabled, enabled } = featureLevels

/**
 * People `u` who can act and may read the merge requests of the project `p`: SQL twin of `projectPolicy.read_merge_request`, for
 * those whom something may be told.
 */
export const readsMergeRequests: Sql = sql`(u.kind = 'human' and u.state = 'active'
  and p.merge_requests_access_level > ${disabled} and (u.admin
  or exists (select from group_access a where a.user_id = u.id and a.group_id = p.namespace_id and a.level >= ${levels.reporter}
    and a.expires_on > current_date)
  or exists (select from project_access a where a.user_id = u.id and a.project_id = p.id and a.level >= ${levels.reporter}
    and a.expires_on > current_date)
  or (p.merge_requests_access_level >= ${enabled}
    and (p.visibility = ${visibilities.public} or (p.visibility = ${visibilities.internal} and not u.external)))))`
