import type { Actor } from '../../../access/actor.ts'
import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { NamespaceWithLevel } from './queries.ts'

/** Whether the caller may create projects here: in their own personal namespace (administrators in any), or in a group whose rules allow it. */
export function mayCreateProjects(actor: Actor, namespace: NamespaceWithLevel): boolean {
  // A token that is limited to existing resources cannot create new ones.
  if (actor.limits) return false
  if (namespace.kind === 'user') return actor.admin || namespace.owner_id === actor.id
  return allows(groupPolicy.create_project, actor, {
    visibility: namespace.visibility,
    level: namespace.level ?? 0,
    features: {},
    flags: {
      importing: namespace.importing,
      developers_create_projects: namespace.project_creation_level === 'developer' && (namespace.level ?? 0) >= 30,
      nobody_creates_projects: namespace.project_creation_level === 'noone',
    },
  })
}
