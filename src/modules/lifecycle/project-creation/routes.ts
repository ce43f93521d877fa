import { endpoint } from '../../../api/endpoint.ts'
import { Filled, Flag, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { user } from '../../accounts/index.ts'
import { instance } from '../../instance/index.ts'
import { Project, projectIds, writeParams } from '../../projects/index.ts'
import { createProjectWithContent, sources } from './service.ts'

const createParams = {
  ...writeParams,
  initialize_with_readme: Flag({ default: false, description: 'Begin with a commit that adds README.md' }),
  default_branch: Optional(Text({ description: 'Branch of that commit, or of the import' })),
  import_url: Optional(Filled({ description: 'Address of a repository to begin with: http, https or git' })),
  template_name: Optional(
    Filled({ description: 'Name of a template to begin with; a custom one with use_custom_template' }),
  ),
  template_project_id: Optional(
    Whole({ ...projectIds, tier: 'premium', description: 'Custom template to begin with; needs use_custom_template' }),
  ),
  use_custom_template: Flag({
    default: false,
    tier: 'premium',
    description: 'Templates are projects of the group in custom_project_templates_group_id, or of the group named here',
  }),
  group_with_project_templates_id: Optional(
    Whole({
      ...projectIds,
      tier: 'premium',
      description: 'Group whose projects, and those below it, are the custom templates; needs use_custom_template',
    }),
  ),
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
      { atLeastOneOf: ['name', 'path'], mutuallyExclusive: [sources] },
    ),
    returns: Project,
    handle: ({ params, ctx }) => createProjectWithContent(ctx, params, ctx.actor!.id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/user/:id',
    summary: 'Create a project for a user',
    description: 'Creates the project in the personal namespace of the user.',
    subject: user,
    allow: 'admin_user',
    params: Params(createParams, { atLeastOneOf: ['name', 'path'], mutuallyExclusive: [sources] }),
    returns: Project,
    handle: ({ subject, params, ctx }) => createProjectWithContent(ctx, params, subject.id),
  }),
]
