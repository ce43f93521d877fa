import { Type } from 'typebox'
import { noteableUrl } from '../../discussion/index.ts'
import type { EpicReferenceRow } from './queries.ts'

/** The epic of an issue in its record. */
export const EpicReferenceSchema = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the epic, unique on the instance' }),
    iid: Type.Integer({ description: 'Number within the group' }),
    title: Type.String({ description: 'Title of the epic' }),
    url: Type.String({ description: 'Path of the epic page' }),
    group_id: Type.Integer({ description: 'ID of the group' }),
  },
  { title: 'EpicReference' },
)

export const epicReference = ({ id, iid, title, group_id, full_path }: EpicReferenceRow) => ({
  id,
  iid,
  title,
  url: noteableUrl('', 'Epic', full_path, iid),
  group_id,
})
