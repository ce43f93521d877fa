import type { FieldViolations } from '../../../kernel/failure.ts'
import { tooLong } from '../../../kernel/violations.ts'

/** Topics as a request names them, under the newer word, the older, or both. */
export type TopicWish = { readonly tag_list?: readonly string[]; readonly topics?: readonly string[] }

/** As many characters as a topic has that administrators declare. */
const longest = 255

/** Sorted, without blanks and duplicates. */
export const topicsOf = (names: readonly string[]): string[] =>
  [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].sort()

/** Violations about topics that could not be declared, under the words that were used. */
export const topicViolations = ({ tag_list, topics }: TopicWish): FieldViolations => ({
  tag_list: violationsAbout(tag_list),
  topics: violationsAbout(topics),
})

const violationsAbout = (names: readonly string[] = []): string[] => [
  ...(names.some((name) => [...name.trim()].length > longest) ? [tooLong(longest)] : []),
  ...(names.some((name) => /\p{Cc}/u.test(name.trim())) ? ['is invalid'] : []),
]
