import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Flag, Id, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { deploymentStatuses } from '../environments/deployment-queries.ts'
import { Deployment } from './entity.ts'
import { deploymentOrders, deploymentsOf, placedRow } from './queries.ts'
import { createDeployment, getDeployment, removeDeployment, setDeploymentStatus } from './service.ts'

const deployment_id = Id({ description: 'ID of the deployment' })
const reported = ['running', 'success', 'failed', 'canceled'] as const

export const deploymentRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/deployments',
    summary: 'List deployments',
    subject: project,
    allow: 'read_deployment',
    params: Params({
      environment: Optional(Text({ description: 'Only to the environment with this name' })),
      status: Optional(OneOf(deploymentStatuses, { description: 'Only deployments in this state' })),
      updated_after: Optional(Timestamp({ description: 'Updated after this time' })),
      updated_before: Optional(Timestamp({ description: 'Updated before this time' })),
      order_by: OneOf(deploymentOrders, { default: 'id', description: 'Field to order by' }),
      sort: OneOf(['asc', 'desc'], { default: 'asc', description: 'Sort direction: ascending or descending' }),
    }),
    paged: true,
    returns: Deployment,
    handle: ({ subject, params, page, ctx }) => fetchPage(ctx.db, placedRow, deploymentsOf(subject.id, params), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/deployments/:deployment_id',
    summary: 'Get a deployment',
    subject: project,
    allow: 'read_deployment',
    params: Params({ deployment_id }),
    returns: Deployment,
    handle: ({ subject, params, ctx }) => getDeployment(ctx, subject, params.deployment_id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/deployments',
    summary: 'Create a deployment',
    description: 'Records what was deployed elsewhere. Creates the environment if it is missing.',
    subject: project,
    allow: 'update_deployment',
    params: Params({
      environment: Filled({ description: 'Name of the environment' }),
      sha: Filled({ description: 'Commit that is deployed' }),
      ref: Filled({ description: 'Branch or tag that is deployed' }),
      tag: Flag({ default: false, description: 'True if the ref is a tag' }),
      status: OneOf(reported, { default: 'running', description: 'State of the deployment' }),
    }),
    returns: Deployment,
    handle: ({ subject, params, ctx }) => createDeployment(ctx, subject, params),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/deployments/:deployment_id',
    summary: 'Update a deployment',
    subject: project,
    allow: 'update_deployment',
    params: Params({ deployment_id, status: OneOf(reported, { description: 'New state of the deployment' }) }),
    returns: Deployment,
    handle: ({ subject, params, ctx }) => setDeploymentStatus(ctx, subject, params.deployment_id, params.status),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/deployments/:deployment_id',
    summary: 'Delete a deployment',
    description: 'Not while it runs, and not the current deployment of an environment.',
    subject: project,
    allow: 'remove_deployment',
    params: Params({ deployment_id }),
    returns: null,
    handle: ({ subject, params, ctx }) => removeDeployment(ctx, subject, params.deployment_id),
  }),
]
