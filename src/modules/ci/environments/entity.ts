import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { type DeploymentRow, deploymentStatuses } from './deployment-queries.ts'
import { tiers } from './names.ts'
import { type EnvironmentRow, states } from './queries.ts'

const reference = {
  id: Type.Integer({ description: 'ID of the environment' }),
  name: Type.String({ description: 'Name, such as `production` or `review/login`' }),
  slug: Type.String({ description: 'Name for hosts and labels; stays when the name changes' }),
  external_url: nullable(Type.String(), { description: 'URL at which the environment runs' }),
  tier: Type.String({ description: 'Kind of environment', enum: [...tiers] }),
  state: Type.String({ description: 'Whether it runs', enum: [...states] }),
}

/** An environment as a deployment contains it. */
export const EnvironmentReferenceSchema = Type.Object(reference, { title: 'EnvironmentReference' })

export const environmentReference = ({
  id,
  name,
  slug,
  external_url,
  tier,
  state,
}: Pick<EnvironmentRow, 'id' | 'name' | 'slug' | 'external_url' | 'tier' | 'state'>) => ({
  id,
  name,
  slug,
  external_url,
  tier: tier as string,
  state: state as string,
})

/** Fields of a deployment without its environment. */
export const deploymentFields = {
  id: Type.Integer({ description: 'ID of the deployment' }),
  iid: Type.Integer({ description: 'Number within the project, from 1' }),
  ref: Type.String({ description: 'Branch or tag' }),
  sha: Type.String({ description: 'Full hash of the commit' }),
  tag: Type.Boolean({ description: 'True if the ref is a tag' }),
  status: Type.String({ description: 'State of the deployment', enum: [...deploymentStatuses] }),
  created_at: timestamp('Time at which the deployment was reported'),
  updated_at: timestamp('Time of the last state change'),
  user: nullable(UserReferenceSchema, { description: 'User who reported it; null if the user was deleted' }),
  deployable: Type.Null({ description: 'Always null; no CI jobs run here' }),
}

export const deploymentRecord = (deployment: DeploymentRow, ctx: Ctx) => ({
  id: deployment.id,
  iid: deployment.iid,
  ref: deployment.ref,
  sha: deployment.sha,
  tag: deployment.tag,
  status: deployment.status as string,
  created_at: deployment.created_at,
  updated_at: deployment.updated_at,
  user: deployment.user && userReference(deployment.user, ctx),
  deployable: null,
})

const listed = {
  ...reference,
  description: nullable(Type.String(), { description: 'What the environment is for' }),
  auto_stop_at: Type.Null({ description: 'Always null; environments stop on request' }),
  created_at: timestamp('Time at which the environment was created'),
  updated_at: timestamp('Time of the last change'),
}

const listedOf = (row: EnvironmentRow) => ({
  ...environmentReference(row),
  description: row.description,
  auto_stop_at: null,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

/** An environment in a list. */
export const Environment = entity({ name: 'Environment', schema: Type.Object(listed), present: listedOf })

/** One environment. */
export const EnvironmentDetail = entity({
  name: 'EnvironmentDetail',
  schema: Type.Object({
    ...listed,
    last_deployment: nullable(Type.Object(deploymentFields, { title: 'DeploymentReference' }), {
      description: 'Newest successful deployment to it',
    }),
  }),
  present: (
    { environment, lastDeployment }: { environment: EnvironmentRow; lastDeployment: DeploymentRow | undefined },
    ctx,
  ) => ({
    ...listedOf(environment),
    last_deployment: lastDeployment ? deploymentRecord(lastDeployment, ctx) : null,
  }),
})
