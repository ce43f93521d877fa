/** Validation messages of fields, as the API specifies them. */

export const tooLong = (maximum: number): string => `is too long (maximum is ${maximum} characters)`
export const blank = "can't be blank"
export const taken = 'has already been taken'

/** The fields that have violations; `undefined` if none has. */
export function violationsOf(fields: Record<string, readonly string[]>): Record<string, readonly string[]> | undefined {
  const left = Object.entries(fields).filter(([, violations]) => violations.length > 0)
  return left.length > 0 ? Object.fromEntries(left) : undefined
}
