import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { presentSshKey, type SshKeyRow, sshKeyFields } from '../../accounts/index.ts'
import type { AnyDeployKeyRow, DeployKeyRow } from './queries.ts'

const fields = {
  ...sshKeyFields,
  fingerprint: Type.String({ description: 'MD5 fingerprint' }),
  fingerprint_sha256: Type.String(),
}

const present = (row: Omit<SshKeyRow, 'user_id'>) => ({
  ...presentSshKey(row),
  fingerprint: row.fingerprint,
  fingerprint_sha256: `SHA256:${row.fingerprint_sha256}`,
})

/** As one project has it. */
export const DeployKey = entity({
  name: 'DeployKey',
  schema: Type.Object({ ...fields, can_push: Type.Boolean({ description: 'May push to this project' }) }),
  present: (row: DeployKeyRow) => ({ ...present(row), can_push: row.can_push }),
})

/** As the installation has it. */
export const InstanceDeployKey = entity({
  name: 'InstanceDeployKey',
  schema: Type.Object({
    ...fields,
    projects_with_write_access: Type.Array(
      Type.Object({
        id: Type.Integer(),
        description: nullable(Type.String()),
        name: Type.String(),
        name_with_namespace: Type.String(),
        path: Type.String(),
        path_with_namespace: Type.String(),
        created_at: timestamp(),
      }),
    ),
  }),
  present: (row: AnyDeployKeyRow) => ({
    ...present(row),
    projects_with_write_access: row.projects_with_write_access,
  }),
})
