import { integer, nullable, type RowOf, text } from '../../../db/row.ts'

export const groupReferenceRow = {
  id: integer,
  name: text,
  full_name: text,
  full_path: text,
  avatar: nullable(text),
}
export type GroupReferenceRow = RowOf<typeof groupReferenceRow>
