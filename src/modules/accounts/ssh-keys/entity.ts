import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { User } from '../users/entity.ts'
import type { UserRow } from '../users/queries.ts'
import type { EnabledRow, SshKeyRow } from './queries.ts'

export const sshKeyFields = {
  id: Type.Integer({ description: 'ID of the key' }),
  title: Type.String({ description: 'Title of the key' }),
  key: Type.String({ description: 'Public key: type, base64 and comment, on one line' }),
  created_at: timestamp('Time at which the key was added'),
  expires_at: nullable(timestamp('Expiry time; refused from then on')),
}

export const presentSshKey = (row: Omit<SshKeyRow, 'user_id'>) => ({
  id: row.id,
  title: row.title,
  key: row.key,
  created_at: row.created_at,
  expires_at: row.expires_at,
})

export const SSHKey = entity({ name: 'SSHKey', schema: Type.Object(sshKeyFields), present: presentSshKey })

/** A key with its user, for administrators who found it in a log. */
export const SSHKeyWithUser = entity({
  name: 'SSHKeyWithUser',
  schema: Type.Object({
    ...sshKeyFields,
    user: nullable(User.schema, { description: 'Owner of the key; the creator of a deploy key' }),
    deploy_keys_projects: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.Integer({ description: 'ID of the link between key and project' }),
          deploy_key_id: Type.Integer({ description: 'ID of the deploy key' }),
          project_id: Type.Integer({ description: 'ID of the project' }),
          created_at: timestamp('Time at which the key was enabled in the project'),
          updated_at: timestamp('Time of the last change'),
          can_push: Type.Boolean({ description: 'True if the key may push to the project' }),
        }),
        { description: 'Projects in which the deploy key is enabled' },
      ),
    ),
  }),
  present: (row: SshKeyRow & { user: UserRow | undefined; enabled: readonly EnabledRow[] | undefined }, ctx) => ({
    ...presentSshKey(row),
    user: row.user ? User.present(row.user, ctx, undefined) : null,
    ...(row.enabled && { deploy_keys_projects: [...row.enabled] }),
  }),
})
