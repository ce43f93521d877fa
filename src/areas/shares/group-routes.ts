import { Type } from 'typebox'
import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import { endpoint } from '../../api/endpoint.ts'
import { entity } from '../../api/entity.ts'
import { fetchPage } from '../../api/page.ts'
import { Flag, List, OneOf, Optional, Params, Text, Whole } from '../../api/params/types.ts'
import { nullable } from '../../api/schema.ts'
import { pictureUrl } from '../avatars/addresses.ts'
import { namespaceUrl } from '../namespaces/entity.ts'
import { project } from '../projects/subject.ts'
import { groupsOfProject, type ProjectGroupRow } from './group-queries.ts'

const ProjectGroup = entity({
  name: 'ProjectGroup',
  schema: Type.Object({
    id: Type.Integer(),
    web_url: nullable(Type.String()),
    name: Type.String(),
    avatar_url: nullable(Type.String()),
    full_name: Type.String(),
    full_path: Type.String(),
  }),
  present: (row: ProjectGroupRow, { site }) => ({
    id: row.id,
    web_url: namespaceUrl(site, 'group', row.full_path),
    name: row.name,
    avatar_url: pictureUrl(site, 'group', row.id, row.avatar),
    full_name: row.full_name,
    full_path: row.full_path,
  }),
})

export const projectGroupRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/groups',
    summary: 'List the groups around a project, and those it is shared with',
    subject: project,
    allow: 'read_project',
    params: Params({
      search: Optional(Text({ description: 'Words in the name or path' })),
      skip_groups: Optional(List(Whole({ maximum: Number.MAX_SAFE_INTEGER }), { description: 'Not these groups' })),
      with_shared: Flag({ default: false, description: 'Groups that the project is shared with, too' }),
      shared_visible_only: Flag({ default: false, description: 'Of those, only such as the caller sees' }),
      shared_min_access_level: Optional(
        OneOf([10, 20, 30, 40, 50], { description: 'Of those, only such as get this level at least' }),
      ),
    }),
    paged: true,
    returns: ProjectGroup,
    handle: ({ subject, params, page, ctx }) => {
      const maintains = allows(projectPolicy.share_project, ctx.actor, subject.facts)
      return fetchPage<ProjectGroupRow>(ctx.db, groupsOfProject(ctx.actor, subject, maintains, params), page)
    },
  }),
]
