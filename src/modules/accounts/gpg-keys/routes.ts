import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type Endpoint, endpoint, raw, type Subject } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { refuseGhost, user } from '../users/subject.ts'
import { GPGKey } from './entity.ts'
import { findGpgKeyOf, gpgKeyRow, gpgKeysOf } from './queries.ts'
import { addGpgKeyOf, getGpgKeyOf, removeGpgKeyOf, revokeGpgKeyOf } from './service.ts'

const key_id = Id({ description: 'ID of the key' })

/** Compat: the body repeats the status. */
const accepted = { body: Buffer.from('202'), contentType: 'application/json' }

/** The five endpoints of GPG keys, for the caller and for any user. */
function routesAt<T extends { readonly facts: Facts }, A extends string, P extends TObject>({
  path,
  whose,
  subject,
  allow,
  ownerId,
  requireOwner = () => {},
}: {
  path: string
  /** For summaries: `the caller's`. */
  whose: string
  subject: Subject<T, A, P>
  allow: NoInfer<A>
  ownerId: (subject: T, ctx: Ctx) => number
  /** Throws if the owner cannot have a new key. */
  requireOwner?: (subject: T) => void
}): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List ${whose} GPG keys`,
      scopes: ['read_user'],
      subject,
      allow,
      paged: true,
      returns: GPGKey,
      handle: (call) => fetchPage(call.ctx.db, gpgKeyRow, gpgKeysOf(ownerId(call.subject, call.ctx)), call.page),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:key_id`,
      summary: `Get ${whose} GPG key`,
      scopes: ['read_user'],
      subject,
      allow,
      params: Params({ key_id }),
      returns: GPGKey,
      handle: ({ params, ctx, ...call }) => getGpgKeyOf(ctx, ownerId(call.subject, ctx), params.key_id),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Add ${whose} GPG key`,
      subject,
      allow,
      params: Params({ key: Text({ description: 'ASCII-armored public key, as exported by `gpg --armor --export`' }) }),
      returns: GPGKey,
      handle({ params, ctx, ...call }) {
        requireOwner(call.subject)
        return addGpgKeyOf(ctx, ownerId(call.subject, ctx), params.key)
      },
    }),

    endpoint({
      method: 'POST',
      path: `${path}/:key_id/revoke`,
      summary: `Revoke ${whose} GPG key`,
      description: 'Deletes the key and the verification of every signature it made.',
      subject,
      allow,
      params: Params({ key_id }),
      status: 202,
      returns: raw('application/json'),
      async handle({ params, ctx, ...call }) {
        await revokeGpgKeyOf(ctx, ownerId(call.subject, ctx), params.key_id)
        return accepted
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:key_id`,
      summary: `Delete ${whose} GPG key`,
      description: 'Signatures that the key verified stay verified.',
      subject,
      allow,
      params: Params({ key_id }),
      changedAt: async (whom, params, ctx) =>
        (await findGpgKeyOf(ctx.db, ownerId(whom, ctx), params.key_id))?.updated_at,
      returns: null,
      handle: ({ params, ctx, ...call }) => removeGpgKeyOf(ctx, ownerId(call.subject, ctx), params.key_id),
    }),
  ]
}

export const gpgKeyRoutes = [
  ...routesAt({
    path: '/user/gpg_keys',
    whose: "the caller's",
    subject: instance,
    allow: 'use',
    ownerId: (_, ctx) => ctx.actor!.id,
  }),
  ...routesAt({
    path: '/users/:id/gpg_keys',
    whose: "a user's",
    subject: user,
    allow: 'admin_user',
    ownerId: ({ id }) => id,
    requireOwner: refuseGhost,
  }),
]
