import { tooLong } from '../../../kernel/complaints.ts'
import { type Failure, invalid } from '../../../kernel/failure.ts'

/** Compat: a single string that contains a hash in Ruby's notation. */
export const refuseNote = (field: string, complaint: string): Failure =>
  invalid(`400 (Bad request) "Note {:${field}=>[${JSON.stringify(complaint)}]}" not given`)

/** Maximum characters. */
const maxTextLength = 1_000_000

export function requireText(body: string): void {
  if (body.trim() === '') throw refuseNote('note', "can't be blank")
  if (body.length > maxTextLength) throw refuseNote('note', tooLong(maxTextLength))
}
