import { endpoint } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { GroupLabel } from './entity.ts'
import { promoteLabel } from './promotion.ts'
import { namesIn } from './service.ts'

const summary = 'Make a label of a project one of the group around it, in the place of those of its title below'

export const labelPromotionRoutes = [
  endpoint({
    method: 'PUT',
    path: '/projects/:id/labels/:label_id/promote',
    summary,
    subject: project,
    allow: 'admin_label',
    params: Params({ label_id: Text({ description: 'Number or title of the label' }) }),
    returns: GroupLabel,
    handle: ({ subject, params, ctx }) => promoteLabel(ctx, subject, namesIn(params.label_id)),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/labels/promote',
    summary: `${summary}: older form`,
    deprecated: true,
    subject: project,
    allow: 'admin_label',
    params: Params({ name: Text({ description: 'Title of the label' }) }),
    returns: GroupLabel,
    handle: ({ subject, params, ctx }) => promoteLabel(ctx, subject, [{ title: params.name }]),
  }),
]
