import { CommaList, Flag, Id, List, Optional, Text, Whole } from '../../../api/params/types.ts'

const maxReviewers = 100
const maxAssignees = 100

export const description = Text({ description: 'Description in Markdown' })
export const assignee_id = Id({ description: 'Assignee user ID; 0 unassigns', deprecated: true })

/** Attributes that can be set on creation and on update. */
export const attributeParams = {
  assignee_ids: Optional(
    List(Id(), { single: true, maxItems: maxAssignees, description: 'Assignee user IDs; 0 unassigns all' }),
  ),
  reviewer_ids: Optional(
    List(Id(), { single: true, maxItems: maxReviewers, description: 'User IDs of the reviewers; 0 removes all' }),
  ),
  labels: Optional(CommaList(Text(), { description: 'Label titles; missing labels are created' })),
  remove_source_branch: Optional(Flag({ description: 'Delete the source branch after the merge' })),
  allow_collaboration: Optional(
    Flag({ description: 'Members who can merge may push to the source branch of the fork' }),
  ),
  allow_maintainer_to_push: Optional(Flag({ description: 'Same as `allow_collaboration`', deprecated: true })),
  squash: Optional(Flag({ description: 'Squash the commits on merge' })),
  draft: Optional(
    Flag({ description: 'Mark it as a draft by the prefix `Draft:` of its title, or remove such prefixes' }),
  ),
}

export const approvals_before_merge = Optional(
  Whole({ minimum: 0, tier: 'starter', description: 'Required number of approvals' }),
)

type Attributes = {
  readonly assignee_id?: number | null
  readonly assignee_ids?: readonly number[]
  readonly allow_collaboration?: boolean
  readonly allow_maintainer_to_push?: boolean
}

/** Merges two names of one parameter. */
export function namedOnce<Input extends Attributes>({
  assignee_id,
  assignee_ids,
  allow_maintainer_to_push,
  allow_collaboration,
  ...rest
}: Input) {
  const assignees = assignee_ids ?? (assignee_id === undefined ? undefined : assignee_id ? [assignee_id] : [])
  const collaboration = allow_collaboration ?? allow_maintainer_to_push
  return {
    ...rest,
    ...(assignees && { assignee_ids: assignees }),
    ...(collaboration !== undefined && { allow_collaboration: collaboration }),
  }
}
