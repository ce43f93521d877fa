import { hex, moment, person, supplied, whole, words } from '../../../db/portable/columns.ts'
import { heldBy, type Relation } from '../../../db/portable/relation.ts'

/** Files that texts of a project link to, whose bytes are in the archive too. */
export const uploadRelation: Relation = {
  name: 'uploads',
  ...heldBy('uploads'),
  order: ['t.id'],
  columns: {
    secret: hex(32),
    filename: words(255, /^(?!\.{1,2}$)[^/\\]+$/),
    uploader: { ...person, column: 'uploader_id' },
    created_at: moment,
    digest: supplied(hex(64)),
    size: supplied(whole(0, Number.MAX_SAFE_INTEGER)),
  },
  holder: ['project_id'],
}
