import { endpoint } from '../../api/endpoint.ts'
import { Filled, Flag, Optional, Params, Text, Whole } from '../../api/params/types.ts'
import { instance } from '../instance/subject.ts'
import { Project } from '../projects/entity.ts'
import { projectIds, writeParams } from '../projects/params.ts'
import { user } from '../users/subject.ts'
import { createProjectWithContent } from './service.ts'

const createParams = {
  ...writeParams,
  initialize_with_readme: Flag({ default: false, description: 'Begin with a commit that adds README.md' }),
  default_branch: Optional(Text({ description: 'Branch of that commit, or of the import' })),
  import_url: Optional(Filled({ description: 'Address of a repository to begin with: http, https or git' })),
} as const

export const projectCreationRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects',
    summary: 'Create a project',
    subject: instance,
    allow: 'use',
    params: Params(
      {
        ...createParams,
        namespace_id: Optional(Whole({ ...projectIds, description: "Where; the caller's own namespace without" })),
      },
      { atLeastOneOf: ['name', 'path'] },
    ),
    returns: Project,
    handle: ({ params, ctx }) => createProjectWithContent(ctx, params, ctx.actor!.id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/user/:id',
    summary: "Create a project in a user's own namespace",
    subject: user,
    allow: 'admin_user',
    params: Params(createParams, { atLeastOneOf: ['name', 'path'] }),
    returns: Project,
    handle: ({ subject, params, ctx }) => createProjectWithContent(ctx, params, subject.id),
  }),
]
