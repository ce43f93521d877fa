import { type Failure, invalid } from '../../../kernel/failure.ts'
import { tooLong } from '../../../kernel/violations.ts'

/** Compat: one string with a hash in Ruby's spelling. */
export const refuseNote = (field: string, violation: string): Failure =>
  invalid(`400 (Bad request) "Note {:${field}=>[${JSON.stringify(violation)}]}" not given`)

/** Characters. */
const longestText = 1_000_000

export function requireText(body: string): void {
  if (body.trim() === '') throw refuseNote('note', "can't be blank")
  if (body.length > longestText) throw refuseNote('note', tooLong(longestText))
}
