import { blank, lengthViolations } from '../../../kernel/violations.ts'

const longest = 255

/** Violations by the title of a label. Commas are not allowed, because they separate the titles of a list. */
export const titleViolations = (title: string): string[] => {
  if (title.trim() === '') return [blank]
  return [...lengthViolations(title, longest), ...(/[,\p{Cc}]/u.test(title) ? ['is invalid'] : [])]
}
