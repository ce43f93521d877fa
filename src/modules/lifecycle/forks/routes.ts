import { endpoint, unchanged, variants } from '../../../api/endpoint.ts'
import { Filled, Id, IdOrName, Nullable, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { getRecord, Project, ProjectSimple, project, projectListFilters, projectsPage } from '../../projects/index.ts'
import { endForkRelation, forkProject, relateFork } from './service.ts'

export const forkRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/fork',
    summary: 'Fork a project',
    description: 'Returns at once; `import_status` tells when the repository has been copied.',
    subject: project,
    allow: 'fork_project',
    params: Params(
      {
        namespace: Optional(
          IdOrName({ description: 'Namespace ID or full path; default: the personal namespace of the caller' }),
        ),
        namespace_id: Optional(Id({ description: 'ID of the namespace' })),
        namespace_path: Optional(Filled({ description: 'Full path of the namespace' })),
        name: Optional(Filled({ description: 'Name; default: that of the source' })),
        path: Optional(Filled({ description: 'Path; default: that of the source' })),
        description: Optional(Nullable(Text({ description: 'Description; default: that of the source' }))),
        visibility: Optional(
          OneOf(['private', 'internal', 'public'], { description: 'Visibility, at most that of the source' }),
        ),
      },
      { mutuallyExclusive: [['namespace', 'namespace_id', 'namespace_path']] },
    ),
    returns: Project,
    handle({ subject, params: { namespace, namespace_id, namespace_path, description, ...rest }, ctx }) {
      const target = namespace ?? namespace_id ?? namespace_path
      return forkProject(ctx, subject, {
        ...rest,
        ...(target !== undefined && { namespace: target }),
        ...(description != null && { description }),
      })
    },
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/fork/:forked_from_id',
    summary: 'Create a fork relation',
    description: 'Marks a project as the fork of another.',
    subject: project,
    allow: 'link_fork',
    params: Params({ forked_from_id: Text({ description: 'ID or full path of the source project' }) }),
    returns: Project,
    async handle({ subject, params, ctx }) {
      await relateFork(ctx, subject, params.forked_from_id)
      return getRecord(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/fork',
    summary: 'Delete a fork relation',
    subject: project,
    allow: 'link_fork',
    params: Params({}),
    unchanged: 'The project is not a fork',
    returns: null,
    async handle({ subject, ctx }) {
      if (!(await endForkRelation(ctx, subject))) return unchanged
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/forks',
    summary: 'List forks of a project',
    description: 'Returns the forks that the caller can see.',
    subject: project,
    allow: 'read_project',
    params: Params(projectListFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    handle: ({ subject, params, page, ctx }) => projectsPage(ctx, { of: 'forks', sourceId: subject.id }, params, page),
  }),
]
