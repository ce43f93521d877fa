import { type FieldViolations, invalidFields } from '../../../kernel/failure.ts'
import type { State } from './states.ts'

/** A report about a commit; absent attributes keep those of an earlier report of the same name. */
export type Report = {
  readonly state: State
  /** Distinguishes statuses of the same commit. */
  readonly name: string
  readonly targetUrl: string | undefined
  readonly description: string | undefined
  /** Per cent. */
  readonly coverage: number | undefined
}

const maxLength = 255
const lengthViolation = (text: string | undefined): string[] =>
  [...(text ?? '')].length > maxLength ? [`is too long (maximum is ${maxLength} characters)`] : []

function urlViolation(text: string | undefined): string[] {
  if (text === undefined) return []
  if (!URL.canParse(text) || /\s/.test(text)) return ['must be a valid URL']
  return /^https?:$/.test(new URL(text).protocol) ? [] : ['is blocked: Only allowed schemes are http, https']
}

/** Throws `invalid` with the errors of a report. */
export function requireReport({ name, targetUrl, description }: Report): void {
  const violations: FieldViolations = {
    name: name.trim() === '' ? ["can't be blank"] : lengthViolation(name),
    target_url: [...urlViolation(targetUrl), ...lengthViolation(targetUrl)],
    description: lengthViolation(description),
  }
  const found = Object.entries(violations).filter(([, each]) => each.length > 0)
  if (found.length > 0) throw invalidFields(Object.fromEntries(found))
}
