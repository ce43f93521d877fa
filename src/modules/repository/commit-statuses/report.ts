import { invalidFields } from '../../../kernel/failure.ts'
import { lengthViolations, requiredTextViolations, violationsOf } from '../../../kernel/violations.ts'
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
function urlViolations(text: string | undefined): string[] {
  if (text === undefined) return []
  if (!URL.canParse(text) || /\s/.test(text)) return ['must be a valid URL']
  return /^https?:$/.test(new URL(text).protocol) ? [] : ['is blocked: Only allowed schemes are http, https']
}

/** Throws `invalid` with the errors of a report. */
export function requireReport({ name, targetUrl, description }: Report): void {
  const violations = violationsOf({
    name: requiredTextViolations(name, maxLength),
    target_url: [...urlViolations(targetUrl), ...lengthViolations(targetUrl ?? '', maxLength)],
    description: lengthViolations(description ?? '', maxLength),
  })
  if (violations) throw invalidFields(violations)
}
