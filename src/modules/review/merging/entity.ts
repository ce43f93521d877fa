import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { Oid } from '../../../git/format/oid.ts'

/** Response to a request for a rebase, which a job runs later. */
export const RebaseProgress = entity({
  name: 'RebaseProgress',
  schema: Type.Object({
    rebase_in_progress: Type.Boolean({
      description: 'Request the merge request with `include_rebase_in_progress` to follow the rebase',
    }),
  }),
  present: ({ rebasing }: { readonly rebasing: boolean }) => ({ rebase_in_progress: rebasing }),
})

/** The result of a merge at a ref. */
export const MergeRef = entity({
  name: 'MergeRef',
  schema: Type.Object({ commit_id: Type.String({ description: 'Commit of refs/merge-requests/:iid/merge' }) }),
  present: ({ oid }: { readonly oid: Oid }) => ({ commit_id: oid as string }),
})
