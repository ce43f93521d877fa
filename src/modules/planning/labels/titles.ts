import { blank, tooLong } from '../../../kernel/violations.ts'

const longest = 255

/** Violations about the title of a label: lists of them are separated by commas. */
export const titleViolations = (title: string): string[] => {
  if (title.trim() === '') return [blank]
  return [
    ...([...title].length > longest ? [tooLong(longest)] : []),
    ...(/[,\p{Cc}]/u.test(title) ? ['is invalid'] : []),
  ]
}
