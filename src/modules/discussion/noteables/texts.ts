import type { FieldViolations } from '../../../kernel/failure.ts'
import { lengthViolations, requiredTextViolations } from '../../../kernel/violations.ts'

const longestTitle = 255
const longestDescription = 1_048_576

/** Control characters and line separators. A title is one line, in mails and in commit messages. */
const controls = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g

/** The title as one line: control characters become a space. */
export const cleanTitle = (title: string): string => {
  const clean = title.replace(controls, ' ')
  return clean === title ? title : clean.trim()
}

/** Violations of the given title and description of a noteable. */
export const textViolations = ({
  title,
  description,
}: {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
}): FieldViolations => ({
  title: title === undefined ? [] : requiredTextViolations(title, longestTitle),
  description: lengthViolations(description ?? '', longestDescription),
})
