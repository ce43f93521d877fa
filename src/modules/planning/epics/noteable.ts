import { noteableAs } from '../../discussion/index.ts'

/** An epic as notes, todos and subscriptions refer to it. */
export const asNoteable = noteableAs('Epic')

/** An epic with what references name it by. */
type NamedEpic = {
  readonly id: number
  readonly iid: number
  readonly group_id: number
  readonly full_path: string
}

/** An epic as notes about it name it. */
export const asNamed = ({ id, iid, group_id, full_path }: NamedEpic) => ({
  ...asNoteable({ id, group_id }),
  iid,
  full_path,
})
