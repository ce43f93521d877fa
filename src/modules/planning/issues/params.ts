import { CommaList, DateOnly, Flag, Id, List, Nullable, Optional, Text, Whole } from '../../../api/params/types.ts'

const maxAssignees = 100

/** Attributes that can be set on creation and on update. */
export const attributeParams = {
  description: Optional(Nullable(Text({ description: 'Description in Markdown' }))),
  confidential: Optional(
    Flag({ description: 'Only the author, assignees and members from reporters on can read the issue' }),
  ),
  assignee_ids: Optional(
    List(Id(), { single: true, maxItems: maxAssignees, description: 'Assignee user IDs; 0 unassigns all' }),
  ),
  assignee_id: Optional(Nullable(Id({ description: 'Assignee user ID; 0 unassigns', deprecated: true }))),
  milestone_id: Optional(
    Nullable(Id({ description: 'ID of a milestone of the project or of its ancestor groups; 0 removes it' })),
  ),
  labels: Optional(CommaList(Text(), { description: 'Label titles; missing labels are created' })),
  due_date: Optional(Nullable(DateOnly({ description: 'Day on which it is due' }))),
  weight: Optional(Nullable(Whole({ minimum: 0, tier: 'starter', description: 'Weight of the issue' }))),
  epic_id: Optional(
    Nullable(Id({ tier: 'ultimate', description: 'ID of an epic of a group above the project; 0 removes it' })),
  ),
  epic_iid: Optional(
    Nullable(Id({ tier: 'ultimate', description: 'Number of an epic of the group of the project', deprecated: true })),
  ),
  discussion_locked: Optional(Nullable(Flag({ description: 'Only members may comment' }))),
}

/** Merges the two names of assignees. */
export function namedOnce<
  Input extends { readonly assignee_id?: number | null; readonly assignee_ids?: readonly number[] },
>({ assignee_id, assignee_ids, ...rest }: Input) {
  const assignees = assignee_ids ?? (assignee_id === undefined ? undefined : assignee_id ? [assignee_id] : [])
  return { ...rest, ...(assignees && { assignee_ids: assignees.filter((id) => id !== 0) }) }
}
