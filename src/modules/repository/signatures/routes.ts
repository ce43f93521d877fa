import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { PGPSignature, SSHSignature, X509Signature } from './entity.ts'
import { getSignature } from './service.ts'

const records = { PGP: PGPSignature, SSH: SSHSignature, X509: X509Signature }

export const signatureRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/signature',
    summary: 'Get the signature of a commit',
    description: 'Tells the kind of the signature and whether it verifies the committer.',
    subject: project,
    allow: 'read_code',
    params: Params({ sha: Text({ description: 'Full or abbreviated commit hash, or branch or tag name' }) }),
    returns: variants(...Object.values(records)),
    async handle({ subject, params, ctx }) {
      const signature = await getSignature(ctx, subject, params.sha)
      return as(records[signature.type], signature)
    },
  }),
]
