import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Id, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../projects/subject.ts'
import { DeployKey, InstanceDeployKey } from './entity.ts'
import {
  allDeployKeys,
  anyDeployKeyRow,
  deployKeyRow,
  deployKeysOf,
  findAnyDeployKey,
  findDeployKey,
} from './queries.ts'
import {
  addDeployKey,
  addPublicKey,
  enableDeployKey,
  getDeployKey,
  removeDeployKey,
  removePublicKey,
  updateDeployKey,
} from './service.ts'

const key_id = Id({ description: 'ID of the key' })
const title = Text({ description: 'Display title' })
const key = Text({ description: 'Public key: type, base64 and comment, as in `id_ed25519.pub`' })
const expires_at = Optional(Timestamp({ description: 'Expiry time; refused from then on' }))

export const deployKeyRoutes = [
  endpoint({
    method: 'GET',
    path: '/deploy_keys',
    summary: 'List all deploy keys',
    subject: instance,
    allow: 'administer',
    params: Params({ public: Flag({ default: false, description: 'Only instance deploy keys' }) }),
    paged: true,
    returns: InstanceDeployKey,
    handle: ({ params, page, ctx }) => fetchPage(ctx.db, anyDeployKeyRow, allDeployKeys(params.public), page),
  }),

  endpoint({
    method: 'POST',
    path: '/deploy_keys',
    summary: 'Create an instance deploy key',
    description: 'Maintainers may enable the key in their projects.',
    subject: instance,
    allow: 'administer',
    params: Params({ title, key, expires_at }),
    returns: InstanceDeployKey,
    handle: ({ params, ctx }) => addPublicKey(ctx, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/deploy_keys/:key_id',
    summary: 'Delete an instance deploy key',
    description: 'Removes the key from all projects.',
    subject: instance,
    allow: 'administer',
    params: Params({ key_id }),
    changedAt: async (_subject, params, ctx) => (await findAnyDeployKey(ctx.db, params.key_id))?.updated_at,
    returns: null,
    handle: ({ params, ctx }) => removePublicKey(ctx, params.key_id),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/deploy_keys',
    summary: 'List deploy keys of a project',
    subject: project,
    allow: 'admin_deploy_key',
    paged: true,
    returns: DeployKey,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, deployKeyRow, deployKeysOf(subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/deploy_keys/:key_id',
    summary: 'Get a project deploy key',
    subject: project,
    allow: 'admin_deploy_key',
    params: Params({ key_id }),
    returns: DeployKey,
    handle: ({ subject, params, ctx }) => getDeployKey(ctx, subject, params.key_id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/deploy_keys',
    summary: 'Create a project deploy key',
    subject: project,
    allow: 'admin_deploy_key',
    params: Params({
      title,
      key,
      can_push: Flag({ default: false, description: 'May push to this project' }),
      expires_at,
    }),
    returns: DeployKey,
    handle: ({ subject, params, ctx }) => addDeployKey(ctx, subject, params),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/deploy_keys/:key_id',
    summary: 'Update a project deploy key',
    description: 'Changes the title and whether the key may push.',
    subject: project,
    allow: 'admin_deploy_key',
    params: Params(
      {
        key_id,
        title: Optional(Text({ description: 'Display title' })),
        can_push: Optional(Flag({ description: 'May push to this project' })),
      },
      { atLeastOneOf: ['title', 'can_push'] },
    ),
    returns: DeployKey,
    handle: ({ subject, params, ctx }) => updateDeployKey(ctx, subject, params.key_id, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/deploy_keys/:key_id',
    summary: 'Delete a project deploy key',
    subject: project,
    allow: 'admin_deploy_key',
    params: Params({ key_id }),
    changedAt: async (subject, params, ctx) => (await findDeployKey(ctx.db, subject.id, params.key_id))?.enabled_at,
    returns: null,
    handle: ({ subject, params, ctx }) => removeDeployKey(ctx, subject, params.key_id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/deploy_keys/:key_id/enable',
    summary: 'Enable a deploy key',
    description: 'Enables a key of another project of the caller.',
    subject: project,
    allow: 'admin_deploy_key',
    params: Params({ key_id }),
    returns: DeployKey,
    handle: ({ subject, params, ctx }) => enableDeployKey(ctx, subject, params.key_id),
  }),
]
