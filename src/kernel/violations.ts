/** Validation messages of fields, as the API specifies them. */

export const tooLong = (maximum: number): string => `is too long (maximum is ${maximum} characters)`
export const blank = "can't be blank"
export const taken = 'has already been taken'

/** Counts characters (code points), and only if the UTF-16 length allows for too many. */
export const lengthViolations = (text: string, maximum: number): string[] =>
  text.length > maximum && [...text].length > maximum ? [tooLong(maximum)] : []

/** As `lengthViolations`, for a text that must not be blank. */
export const requiredTextViolations = (text: string, maximum: number): string[] =>
  text.trim() === '' ? [blank] : lengthViolations(text, maximum)

type Bounds = { readonly minimum?: number | undefined; readonly maximum?: number | undefined }

/** Of a number that must be within bounds, both inclusive. */
export function boundViolations(value: number, { minimum, maximum }: Bounds): string[] {
  if (minimum !== undefined && value < minimum) return [`must be greater than or equal to ${minimum}`]
  return maximum !== undefined && value > maximum ? [`must be less than or equal to ${maximum}`] : []
}

export const invalidUrl = 'is blocked: URI is invalid'

/** Of a URL that clients follow. `malformed` is the message for a text that is none. */
export function urlViolations(
  url: string,
  { schemes = ['http', 'https'], malformed = invalidUrl }: { schemes?: readonly string[]; malformed?: string } = {},
): string[] {
  if (/\s|\p{Cc}/u.test(url) || !URL.canParse(url)) return [malformed]
  const scheme = new URL(url).protocol.slice(0, -1)
  return schemes.includes(scheme) ? [] : [`is blocked: Only allowed schemes are ${schemes.join(', ')}`]
}

/** The fields that have violations; `undefined` if none has. */
export function violationsOf(fields: Record<string, readonly string[]>): Record<string, readonly string[]> | undefined {
  const left = Object.entries(fields).filter(([, violations]) => violations.length > 0)
  return left.length > 0 ? Object.fromEntries(left) : undefined
}
