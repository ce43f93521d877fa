import { endpoint } from '../../../api/endpoint.ts'
import { Id, IdOrName, Nullable, Optional, Params, Text } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { GroupDetail, getDetail, group } from '../../groups/index.ts'
import { namespaceToFill, readableNamespace } from '../../namespaces/index.ts'
import { getRecord, loadProject, Project, project } from '../../projects/index.ts'
import { transferGroup } from './group-transfer.ts'
import { transferProject } from './project-transfer.ts'

export const transferRoutes = [
  endpoint({
    method: 'PUT',
    path: '/projects/:id/transfer',
    summary: 'Transfer a project',
    subject: project,
    allow: 'transfer_project',
    params: Params({ namespace: IdOrName({ description: 'ID or full path of the namespace' }) }),
    returns: Project,
    async handle({ subject, params, ctx }) {
      await transferProject(ctx, subject, await namespaceToFill(ctx, params.namespace))
      return getRecord(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/groups/:id/projects/:project_id',
    summary: 'Transfer a project to a group',
    description: 'For administrators.',
    subject: group,
    allow: 'receive_project',
    params: Params({ project_id: Text({ description: 'ID or full path of the project' }) }),
    returns: GroupDetail,
    async handle({ subject, params, ctx }) {
      const moved = await loadProject(params.project_id, ctx)
      if (!moved) throw notFound('Project')
      await transferProject(ctx, moved, await readableNamespace(ctx, subject.id))
      return getDetail(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/groups/:id/transfer',
    summary: 'Transfer a group',
    description: 'Moves the group below another group or to the top level.',
    subject: group,
    allow: 'transfer_group',
    params: Params({
      group_id: Optional(Nullable(Id({ description: 'ID of the new parent group; omit for the top level' }))),
    }),
    returns: GroupDetail,
    async handle({ subject, params, ctx }) {
      await transferGroup(ctx, subject, params.group_id ?? undefined)
      return getDetail(ctx, subject.id)
    },
  }),
]
