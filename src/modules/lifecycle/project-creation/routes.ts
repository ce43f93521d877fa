import { endpoint } from '../../../api/endpoint.ts'
import { Filled, Flag, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { user } from '../../accounts/index.ts'
import { instance } from '../../instance/index.ts'
import { Project, projectIds, writeParams } from '../../projects/index.ts'
import { mirrorParams } from '../pull-mirrors/configure.ts'
import { createProjectWithContent, sources } from './service.ts'

const createParams = {
  ...writeParams,
  ...mirrorParams,
  initialize_with_readme: Flag({ default: false, description: 'Create an initial commit with README.md' }),
  default_branch: Optional(Text({ description: 'Default branch of the initial commit or the import' })),
  repository_storage: Optional(
    Text({ description: 'Storage of the repository; for administrators. Default: one of the application settings' }),
  ),
  import_url: Optional(Filled({ description: 'URL of a repository to import: http, https or git' })),
  template_name: Optional(
    Filled({ description: 'Name of a project template; a custom one with `use_custom_template`' }),
  ),
  template_project_id: Optional(
    Whole({ ...projectIds, tier: 'premium', description: 'ID of the custom template; requires `use_custom_template`' }),
  ),
  use_custom_template: Flag({
    default: false,
    tier: 'premium',
    description:
      'Use a custom template: a project of `group_with_project_templates_id` or of the group in the application settings',
  }),
  group_with_project_templates_id: Optional(
    Whole({
      ...projectIds,
      tier: 'premium',
      description: 'Group whose projects and descendants are the custom templates; requires `use_custom_template`',
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
        namespace_id: Optional(
          Whole({ ...projectIds, description: 'Namespace ID; default: the personal namespace of the caller' }),
        ),
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
