import { CommaList, Flag, Id, List, Optional, Text, Whole } from '../../../api/params/types.ts'

const maxAssignees = 100

export const description = Text({ description: 'More of what it is about' })
export const assignee_id = Id({ description: 'Who is to see to it; 0 for nobody', deprecated: true })

/** What a merge request is given when it is made, and later. */
export const attributeParams = {
  assignee_ids: Optional(List(Id(), { maxItems: maxAssignees, description: 'Who is to see to it' })),
  labels: Optional(CommaList(Text(), { description: 'Titles; unknown ones are made' })),
  remove_source_branch: Optional(Flag({ description: 'Once it is merged' })),
  allow_collaboration: Optional(
    Flag({ description: 'Those who may merge it push to the source branch, which is of another project' }),
  ),
  allow_maintainer_to_push: Optional(Flag({ description: 'The same', deprecated: true })),
  squash: Optional(Flag({ description: 'To be merged as one commit' })),
}

export const approvals_before_merge = Optional(
  Whole({ minimum: 0, tier: 'starter', description: 'How many must approve it' }),
)

type Attributes = {
  readonly assignee_id?: number | null
  readonly assignee_ids?: readonly number[]
  readonly allow_collaboration?: boolean
  readonly allow_maintainer_to_push?: boolean
}

/** One name for what has two. */
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
