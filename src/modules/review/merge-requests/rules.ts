import { branchRef } from '../../../git/format/ref-name.ts'
import { type FieldViolations, invalidFields } from '../../../kernel/failure.ts'
import { blank, tooLong } from '../../../kernel/violations.ts'

const longestTitle = 255
const longestDescription = 1_048_576

/** Text fields of a merge request. */
type Written = {
  readonly title?: string
  readonly description?: string | null
  readonly source_branch?: string
  readonly target_branch?: string
}

const branchViolations = (name: string | undefined): string[] =>
  name === undefined ? [] : name === '' ? [blank] : branchRef(name) ? [] : ['is invalid']

const titleViolations = (title: string | undefined): string[] =>
  title === undefined
    ? []
    : title.trim() === ''
      ? [blank]
      : [...title].length > longestTitle
        ? [tooLong(longestTitle)]
        : []

/** Counts characters only if the length allows for too many. */
const isTooLong = (text: string): boolean => text.length > longestDescription && [...text].length > longestDescription

/** Reports all violations of the given fields. */
export function requireRules({ title, description, source_branch, target_branch }: Written): void {
  const violations: FieldViolations = {
    title: titleViolations(title),
    description: isTooLong(description ?? '') ? [tooLong(longestDescription)] : [],
    source_branch: branchViolations(source_branch),
    target_branch: branchViolations(target_branch),
  }
  const wrong = Object.entries(violations).filter(([, about]) => about.length > 0)
  if (wrong.length > 0) throw invalidFields(Object.fromEntries(wrong))
}
