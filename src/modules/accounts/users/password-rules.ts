import { blank, tooLong } from '../../../kernel/violations.ts'
import type { Settings } from '../../../settings/settings.ts'

const maxPasswordLength = 128

/** Password requirements that settings can enable, besides length. */
const kinds = [
  ['password_number_required', /\p{Nd}/u, 'must contain at least one number'],
  ['password_lowercase_required', /\p{Ll}/u, 'must contain at least one lowercase letter'],
  ['password_uppercase_required', /\p{Lu}/u, 'must contain at least one uppercase letter'],
  ['password_symbol_required', /[^\p{L}\p{N}]/u, 'must contain at least one symbol'],
] as const

/** Errors of a new password. */
export function passwordViolations(password: string, settings: Settings): string[] {
  if (password === '') return [blank]
  const minimum = settings.minimum_password_length
  const length = [...password].length
  return [
    ...(length < minimum ? [`is too short (minimum is ${minimum} characters)`] : []),
    ...(length > maxPasswordLength ? [tooLong(maxPasswordLength)] : []),
    ...kinds.filter(([name, shape]) => settings[name] && !shape.test(password)).map(([, , text]) => text),
  ]
}
