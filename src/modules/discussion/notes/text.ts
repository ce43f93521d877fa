import { type Failure, invalidFields } from '../../../kernel/failure.ts'
import { blank, tooLong } from '../../../kernel/violations.ts'

export const refuseNote = (field: string, violation: string): Failure =>
  invalidFields({ [field]: [violation] }, 'save comment')

/** Maximum characters. */
export const longestText = 1_000_000

export function requireText(body: string): void {
  if (body.trim() === '') throw refuseNote('note', blank)
  if (body.length > longestText) throw refuseNote('note', tooLong(longestText))
}
