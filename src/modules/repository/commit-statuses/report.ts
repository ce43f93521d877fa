import { invalidFields } from '../../../kernel/failure.ts'
import { lengthViolations, requiredTextViolations, urlViolations, violationsOf } from '../../../kernel/violations.ts'
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

/** Throws `invalid` with the errors of a report. */
export function requireReport({ name, targetUrl, description }: Report): void {
  const violations = violationsOf({
    name: requiredTextViolations(name, maxLength),
    target_url:
      targetUrl === undefined
        ? []
        : [
            ...urlViolations(targetUrl, { malformed: 'must be a valid URL' }),
            ...lengthViolations(targetUrl, maxLength),
          ],
    description: lengthViolations(description ?? '', maxLength),
  })
  if (violations) throw invalidFields(violations)
}
