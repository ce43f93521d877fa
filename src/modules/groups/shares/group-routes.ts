import { memberLevels } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { CommaList, Flag, OneOf, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { GroupReference } from '../groups/reference-entity.ts'
import { groupReferenceRow } from '../groups/reference-row.ts'
import { groupsOfProject } from './group-queries.ts'

export const projectGroupRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/groups',
    summary: 'List groups of a project',
    description: 'Returns the ancestor groups and the groups with which the project is shared.',
    subject: project,
    allow: 'read_project',
    params: Params({
      search: Optional(Text({ description: 'Search terms in the name or path' })),
      // Compat: as for lists of groups.
      skip_groups: Optional(
        CommaList(Whole({ maximum: Number.MAX_SAFE_INTEGER }), { description: 'Group IDs to exclude' }),
      ),
      with_shared: Flag({ default: false, description: 'Include groups with which the project is shared' }),
      shared_visible_only: Flag({ default: false, description: 'Only shared groups that the caller can see' }),
      shared_min_access_level: Optional(
        OneOf(memberLevels, { levels: true, description: 'Minimum access level of shared groups' }),
      ),
    }),
    paged: true,
    returns: GroupReference,
    handle: ({ subject, params, page, ctx }) => {
      const maintains = allows(projectPolicy.share_project, ctx.actor, subject.facts)
      return fetchPage(ctx.db, groupReferenceRow, groupsOfProject(ctx.actor, subject, maintains, params), page)
    },
  }),
]
