import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { presentSshKey, type SshKeyRow, sshKeyFields } from '../../accounts/index.ts'
import { projectReferenceFields } from '../projects/basic-entity.ts'
import type { AnyDeployKeyRow, DeployKeyRow } from './queries.ts'

const fields = {
  ...sshKeyFields,
  fingerprint: Type.String({ description: 'MD5 fingerprint: hex with colons' }),
  fingerprint_sha256: Type.String({ description: 'SHA-256 fingerprint: `SHA256:` and base64' }),
}

const present = (row: Omit<SshKeyRow, 'user_id'>) => ({
  ...presentSshKey(row),
  fingerprint: row.fingerprint,
  fingerprint_sha256: `SHA256:${row.fingerprint_sha256}`,
})

/** A deploy key of one project. */
export const DeployKey = entity({
  name: 'DeployKey',
  schema: Type.Object({ ...fields, can_push: Type.Boolean({ description: 'May push to this project' }) }),
  present: (row: DeployKeyRow) => ({ ...present(row), can_push: row.can_push }),
})

/** A deploy key of the instance. */
export const InstanceDeployKey = entity({
  name: 'InstanceDeployKey',
  schema: Type.Object({
    ...fields,
    projects_with_write_access: Type.Array(
      Type.Object(
        {
          ...projectReferenceFields,
        },
        { title: 'ProjectReference' },
      ),
      { description: 'Projects to which the key may push' },
    ),
  }),
  present: (row: AnyDeployKeyRow) => ({
    ...present(row),
    projects_with_write_access: row.projects_with_write_access,
  }),
})
