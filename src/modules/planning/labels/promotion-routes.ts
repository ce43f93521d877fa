import { endpoint } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { type ProjectSubject, project } from '../../projects/index.ts'
import { GroupLabel, type LabelShown } from './entity.ts'
import { promoteLabel } from './promotion.ts'
import type { LabelRow } from './queries.ts'
import { namesIn } from './service.ts'

/** The label as the group of the project shows it. */
const shownInGroup = ({ full_path }: ProjectSubject, label: LabelRow): LabelShown => ({
  label,
  within: { of: 'group', full_path: full_path.slice(0, full_path.lastIndexOf('/')) },
})

export const labelPromotionRoutes = [
  endpoint({
    method: 'PUT',
    path: '/projects/:id/labels/:label_id/promote',
    summary: 'Promote a project label',
    description: 'The group label replaces all labels of the same title in the projects of the group.',
    subject: project,
    allow: 'admin_label',
    params: Params({ label_id: Text({ description: 'ID or title of the label' }) }),
    returns: GroupLabel,
    handle: async ({ subject, params, ctx }) =>
      shownInGroup(subject, await promoteLabel(ctx, subject, namesIn(params.label_id))),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/labels/promote',
    summary: 'Promote a project label by name',
    description: 'Deprecated form; use `/projects/:id/labels/:label_id/promote`.',
    deprecated: true,
    subject: project,
    allow: 'admin_label',
    params: Params({ name: Text({ description: 'Name of the label' }) }),
    returns: GroupLabel,
    handle: async ({ subject, params, ctx }) =>
      shownInGroup(subject, await promoteLabel(ctx, subject, [{ title: params.name }])),
  }),
]
