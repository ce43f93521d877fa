import { Type } from 'typebox'
import { accessLevel, dateOnly, nullable } from '../../../api/schema.ts'

const SharedWithGroup = Type.Object(
  {
    group_id: Type.Integer({ description: 'ID of the group that got access' }),
    group_name: Type.String({ description: 'Name of the group that got access' }),
    group_full_path: Type.String({ description: 'Path of the group that got access' }),
    group_access_level: accessLevel('Maximum access level for members of that group'),
    expires_at: nullable(dateOnly(), {
      description: 'Expiry date, no access from this day on; null if it does not expire',
    }),
  },
  { title: 'SharedWithGroup' },
)

/** The field `shared_with_groups` of the record of a project or group. */
export const sharedWithGroups = (of: 'project' | 'group') =>
  Type.Array(SharedWithGroup, { description: `Groups that the ${of} is shared with and that the caller can see` })
