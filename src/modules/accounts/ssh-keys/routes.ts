import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { refuseGhost, userByIdOrName } from '../users/subject.ts'
import { SSHKey, SSHKeyWithUser } from './entity.ts'
import { findKey, findKeyOf, keysOf, sshKeyRow } from './queries.ts'
import { addKeyOf, getKeyByFingerprint, getKeyOf, removeKeyOf, withHolder } from './service.ts'

const key_id = Id({ description: 'ID of the key' })

const newKey = Params({
  title: Text({ description: 'Title of the key' }),
  key: Text({ description: 'Public key: type, base64 and comment, as in `id_ed25519.pub`' }),
  expires_at: Optional(Timestamp({ description: 'Expiry time; refused from then on' })),
})

export const sshKeyRoutes = [
  endpoint({
    method: 'GET',
    path: '/user/keys',
    summary: 'List SSH keys of the caller',
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    paged: true,
    returns: SSHKey,
    handle: ({ page, ctx }) => fetchPage(ctx.db, sshKeyRow, keysOf(ctx.actor!.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/user/keys/:key_id',
    summary: "Get the caller's SSH key",
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    params: Params({ key_id }),
    returns: SSHKey,
    handle: ({ params, ctx }) => getKeyOf(ctx, ctx.actor!.id, params.key_id),
  }),

  endpoint({
    method: 'POST',
    path: '/user/keys',
    summary: "Add the caller's SSH key",
    subject: instance,
    allow: 'use',
    params: newKey,
    returns: SSHKey,
    handle: ({ params, ctx }) => addKeyOf(ctx, ctx.actor!.id, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/user/keys/:key_id',
    summary: "Delete the caller's SSH key",
    subject: instance,
    allow: 'use',
    params: Params({ key_id }),
    changedAt: async (_subject, params, ctx) => (await findKeyOf(ctx.db, ctx.actor!.id, params.key_id))?.updated_at,
    returns: null,
    handle: ({ params, ctx }) => removeKeyOf(ctx, ctx.actor!.id, params.key_id),
  }),

  endpoint({
    method: 'GET',
    path: '/users/:user_id/keys',
    summary: 'List SSH keys of a user',
    scopes: ['read_user'],
    subject: userByIdOrName,
    allow: 'read_user',
    paged: true,
    returns: SSHKey,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, sshKeyRow, keysOf(subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/users/:user_id/keys/:key_id',
    summary: "Get a user's SSH key",
    scopes: ['read_user'],
    subject: userByIdOrName,
    allow: 'read_user',
    params: Params({ key_id }),
    returns: SSHKey,
    handle: ({ subject, params, ctx }) => getKeyOf(ctx, subject.id, params.key_id),
  }),

  endpoint({
    method: 'POST',
    path: '/users/:user_id/keys',
    summary: "Add a user's SSH key",
    subject: userByIdOrName,
    allow: 'admin_user',
    params: newKey,
    returns: SSHKey,
    handle({ subject, params, ctx }) {
      refuseGhost(subject)
      return addKeyOf(ctx, subject.id, params)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/users/:user_id/keys/:key_id',
    summary: "Delete a user's SSH key",
    subject: userByIdOrName,
    allow: 'admin_user',
    params: Params({ key_id }),
    changedAt: async (subject, params, ctx) => (await findKeyOf(ctx.db, subject.id, params.key_id))?.updated_at,
    returns: null,
    handle: ({ subject, params, ctx }) => removeKeyOf(ctx, subject.id, params.key_id),
  }),

  endpoint({
    method: 'GET',
    path: '/keys',
    summary: 'Find an SSH key by fingerprint',
    description: 'Returns the key with its owner.',
    subject: instance,
    allow: 'administer',
    params: Params({
      fingerprint: Text({ description: 'Fingerprint: MD5 as hex with colons, or `SHA256:` and base64' }),
    }),
    returns: SSHKeyWithUser,
    handle: async ({ params, ctx }) => withHolder(ctx, await getKeyByFingerprint(ctx, params.fingerprint)),
  }),

  endpoint({
    method: 'GET',
    path: '/keys/:id',
    summary: 'Get an SSH key by ID',
    description: 'Returns the key with its owner.',
    subject: instance,
    allow: 'administer',
    params: Params({ id: key_id }),
    returns: SSHKeyWithUser,
    async handle({ params, ctx }) {
      const row = await findKey(ctx.db, params.id)
      if (!row) throw notFound('Key')
      return withHolder(ctx, row)
    },
  }),
]
