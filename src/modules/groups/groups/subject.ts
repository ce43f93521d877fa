import { Type } from 'typebox'
import { groupPolicy } from '../../../access/group-policy.ts'
import { levels } from '../../../access/levels.ts'
import type { Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { findGroup, type GroupRow } from './queries.ts'

export type GroupSubject = GroupRow & { readonly facts: Facts }

/** Facts for the policy of groups. */
export const groupFacts = (row: GroupRow): Facts => ({
  visibility: row.visibility,
  level: row.level ?? 0,
  withinLimits: row.within_limits,
  features: {},
  flags: {
    importing: row.importing === true,
    reads_project_inside: row.reads_project_inside,
    developers_create_projects: row.project_creation_level === 'developer' && (row.level ?? 0) >= levels.developer,
    nobody_creates_projects: row.project_creation_level === 'noone',
    maintainers_create_subgroups: row.subgroup_creation_level === 'maintainer' && (row.level ?? 0) >= levels.maintainer,
  },
})

export async function loadGroup(id: number | string, ctx: Ctx): Promise<GroupSubject | undefined> {
  const row = await findGroup(ctx.db, ctx.actor, id)
  return row && { ...row, facts: groupFacts(row) }
}

/** A group by id (digits only) or full path. One statement. */
export const group = subject({
  what: 'Group',
  params: Type.Object({ id: Type.String({ description: 'ID or full path of the group' }) }),
  policy: groupPolicy,
  visible: 'read_group',
  load: ({ id }, ctx) => {
    const digits = /^(\d{1,15})(\.json)?$/.exec(id)
    return loadGroup(digits ? Number(digits[1]) : id, ctx)
  },
})
