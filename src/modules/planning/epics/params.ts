import { CommaList, DateOnly, Flag, Id, Nullable, Optional, Text } from '../../../api/params/types.ts'

const day = (description: string) => Optional(Nullable(DateOnly({ description })))
const isFixed = (which: string) =>
  Optional(Flag({ description: `The ${which} is the fixed one, not that inherited from milestones and child epics` }))

/** Attributes that can be set on creation and on update. */
export const attributeParams = {
  description: Optional(Nullable(Text({ description: 'Description in Markdown' }))),
  confidential: Optional(Flag({ description: 'Only the author and members from reporters on can read the epic' })),
  labels: Optional(CommaList(Text(), { description: 'Label titles; missing labels are created in the group' })),
  start_date_is_fixed: isFixed('start date'),
  start_date_fixed: day('Fixed start date'),
  due_date_is_fixed: isFixed('due date'),
  due_date_fixed: day('Fixed due date'),
  start_date: Optional(Nullable(DateOnly({ description: 'Fixed start date, which is then used', deprecated: true }))),
  end_date: Optional(Nullable(DateOnly({ description: 'Fixed due date, which is then used', deprecated: true }))),
  parent_id: Optional(
    Nullable(Id({ description: 'ID of the parent epic, of this group or of a group above it; 0 for none' })),
  ),
}

type Dates = {
  readonly start_date?: string | null
  readonly end_date?: string | null
}

/** Replaces the older names of the dates, and 0 as the id of a parent. */
export function namedOnce<Input extends Dates & { readonly parent_id?: number | null }>({
  start_date,
  end_date,
  parent_id,
  ...rest
}: Input) {
  return {
    ...(start_date !== undefined && { start_date_fixed: start_date, start_date_is_fixed: true }),
    ...(end_date !== undefined && { due_date_fixed: end_date, due_date_is_fixed: true }),
    ...(parent_id !== undefined && { parent_id: parent_id === 0 ? null : parent_id }),
    ...rest,
  }
}
