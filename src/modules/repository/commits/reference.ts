import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { branchName, tagName } from '../../../git/format/ref-name.ts'
import type { RefTip } from '../../../git/refs/refs.ts'

/** A branch or tag that contains a commit. */
export const CommitReference = entity({
  name: 'CommitReference',
  schema: Type.Object({ type: Type.String({ enum: ['branch', 'tag'] }), name: Type.String() }),
  present: ({ name }: RefTip) => {
    const branch = branchName(name)
    return branch === undefined ? { type: 'tag', name: tagName(name) ?? name } : { type: 'branch', name: branch }
  },
})
