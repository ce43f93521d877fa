import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { updateFields } from '../remotes/update-fields.ts'
import type { PushMirrorRow } from './queries.ts'

/** A remote repository that follows a project. */
export const RemoteMirror = entity({
  name: 'RemoteMirror',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the mirror' }),
    enabled: Type.Boolean({ description: 'False if it is not updated' }),
    only_protected_branches: Type.Boolean({ description: 'True if it gets protected branches and tags only' }),
    keep_divergent_refs: Type.Boolean({ description: 'True if refs with commits of their own are not overwritten' }),
    ...updateFields,
  }),
  present: ({ shown_url, ...mirror }: PushMirrorRow) => ({ ...mirror, url: shown_url }),
})
