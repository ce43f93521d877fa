import { blank, tooLong } from '../../../kernel/complaints.ts'
import { type Failure, invalidFields } from '../../../kernel/failure.ts'

export const refuseNote = (field: string, complaint: string): Failure =>
  invalidFields({ [field]: [complaint] }, 'save comment')

/** Characters. */
const longestText = 1_000_000

export function requireText(body: string): void {
  if (body.trim() === '') throw refuseNote('note', blank)
  if (body.length > longestText) throw refuseNote('note', tooLong(longestText))
}
