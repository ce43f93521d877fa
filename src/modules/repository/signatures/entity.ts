import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { SignatureFormat } from '../../../git/objects/signature-format.ts'
import { presentSshKey, sshKeyFields } from '../../accounts/index.ts'
import type { VerificationStatus } from './queries.ts'
import type { SignatureRecord } from './service.ts'

const statuses = [
  'verified',
  'unverified',
  'unverified_key',
  'same_user_different_email',
  'other_user',
  'unknown_key',
] as const satisfies readonly VerificationStatus[]

const shared = <F extends SignatureFormat>(type: F) => ({
  signature_type: Type.Literal(type, { description: 'Format of the signature' }),
  verification_status: Type.Enum([...statuses], { description: 'Result of the verification' }),
  commit_source: Type.Literal('gitaly', { description: 'Always `gitaly`: the commit was read from a repository' }),
})

/** Compat: clients know two sources of commits; ours corresponds to this one. */
const commit_source = 'gitaly'

export const PGPSignature = entity({
  name: 'PGPSignature',
  schema: Type.Object({
    ...shared('PGP'),
    gpg_key_id: nullable(Type.Integer(), { description: 'The key; null if it was deleted' }),
    gpg_key_primary_keyid: nullable(Type.String(), {
      description: 'Key ID; for unknown keys as stated in the signature',
    }),
    gpg_key_user_name: nullable(Type.String(), { description: 'Name in the key; null if unknown' }),
    gpg_key_user_email: nullable(Type.String(), { description: 'Email address in the key; null if unknown' }),
    gpg_key_subkey_id: nullable(Type.Integer(), { description: 'ID of the signing subkey, if any' }),
  }),
  present: (row: SignatureRecord) => ({
    signature_type: 'PGP' as const,
    verification_status: row.status,
    gpg_key_id: row.gpg_key_id,
    gpg_key_primary_keyid: row.primary_key_id,
    gpg_key_user_name: row.user_name,
    gpg_key_user_email: row.user_email,
    gpg_key_subkey_id: row.gpg_subkey_id,
    commit_source: commit_source as typeof commit_source,
  }),
})

export const SSHSignature = entity({
  name: 'SSHSignature',
  schema: Type.Object({
    ...shared('SSH'),
    key: nullable(Type.Object(sshKeyFields), { description: 'The key; null if it was deleted' }),
  }),
  present: (row: SignatureRecord) => ({
    signature_type: 'SSH' as const,
    verification_status: row.status,
    key: row.ssh_key ? presentSshKey(row.ssh_key) : null,
    commit_source: commit_source as typeof commit_source,
  }),
})

/** A signature that was recognised but not verified. */
export const X509Signature = entity({
  name: 'X509Signature',
  schema: Type.Object(shared('X509')),
  present: (row: SignatureRecord) => ({
    signature_type: 'X509' as const,
    verification_status: row.status,
    commit_source: commit_source as typeof commit_source,
  }),
})
