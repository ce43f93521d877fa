import { endpoint } from '../../../api/endpoint.ts'
import { Filled, Optional, Params, Text } from '../../../api/params/types.ts'
import { editProject, Project, project, writeParams } from '../../projects/index.ts'
import { requireBranchStays } from '../../pushes/index.ts'
import { acceptMirrorChange, mirrorParams } from '../pull-mirrors/configure.ts'

const editParams = {
  ...writeParams,
  ...mirrorParams,
  repository_storage: Optional(
    Text({ description: 'Storage of the repository; administrators who name another one than it has get an error' }),
  ),
  import_url: Optional(Filled({ tier: 'starter', description: 'URL that a pull mirror follows: http, https or git' })),
  default_branch: Optional(Text({ description: 'Default branch; must exist' })),
} as const

export const projectEditRoutes = [
  endpoint({
    method: 'PUT',
    path: '/projects/:id',
    summary: 'Update a project',
    subject: project,
    allow: 'admin_project',
    params: Params(editParams, { atLeastOneOf: Object.keys(editParams) as (keyof typeof editParams)[] }),
    returns: Project,
    async handle({ subject, params, ctx }) {
      const changeMirror = await acceptMirrorChange(ctx, subject, params)
      return editProject(ctx, subject, params, async (tx) => {
        if (params.default_branch !== undefined) await requireBranchStays(tx, subject.id, params.default_branch)
        return (await changeMirror?.(tx)) ?? []
      })
    },
  }),
]
