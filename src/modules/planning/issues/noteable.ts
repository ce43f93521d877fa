import { noteableAs } from '../../discussion/index.ts'

/** An issue as notes, todos and subscriptions refer to it. */
export const asNoteable = noteableAs('Issue')

/** An issue with what references name it by. */
type NamedIssue = {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly project: { readonly full_path: string }
}

/** An issue as notes about it name it. */
export const asNamed = ({ id, iid, project_id, project }: NamedIssue) => ({
  ...asNoteable({ id, project_id }),
  iid,
  full_path: project.full_path,
})
