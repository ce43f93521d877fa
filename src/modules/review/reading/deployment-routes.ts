import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { slicePage } from '../../../api/page.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { getDeployment } from '../../ci/index.ts'
import { placeOfProject } from '../../planning/index.ts'
import { project } from '../../projects/index.ts'
import { MergeRequest, MergeRequestSimple } from '../merge-requests/entity.ts'
import { findDeployed, maxCandidates } from './deployed.ts'
import { mergeRequestsPage } from './list.ts'
import { listParams, listRules } from './list-params.ts'

export const deploymentMergeRequestRoutes = [
  /** One or two walks of the history. Callers who cannot read merge requests get an empty list. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/deployments/:deployment_id/merge_requests',
    summary: 'List merge requests of a deployment',
    description: `Returns merge requests of the project whose merge a successful deployment contains, and the previous successful deployment to its environment does not. Of the ${maxCandidates.toLocaleString('en')} that were merged last.`,
    subject: project,
    allow: 'read_deployment',
    params: Params({ deployment_id: Id({ description: 'ID of the deployment' }), ...listParams('all') }, listRules),
    paged: true,
    returns: variants(MergeRequest, MergeRequestSimple),
    async handle({ subject, params, page, ctx }) {
      const deployment = await getDeployment(ctx, subject, params.deployment_id)
      if (!allows(projectPolicy.read_merge_request, ctx.actor, subject.facts))
        return as(MergeRequest, slicePage([], page))
      const ids = await findDeployed(ctx, subject, deployment)
      return mergeRequestsPage(ctx, placeOfProject(subject), { ...params, ids }, page)
    },
  }),
]
