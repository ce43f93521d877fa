import { tooLong } from '../../../kernel/complaints.ts'
import type { FieldComplaints } from '../../../kernel/failure.ts'

/** Topics as a request names them, under the newer word, the older, or both. */
export type TopicWish = { readonly tag_list?: readonly string[]; readonly topics?: readonly string[] }

/** As many characters as a topic has that administrators declare. */
const longest = 255

/** Sorted, without blanks and duplicates. */
export const topicsOf = (names: readonly string[]): string[] =>
  [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].sort()

/** Complaints about topics that could not be declared, under the words that were used. */
export const topicComplaints = ({ tag_list, topics }: TopicWish): FieldComplaints => ({
  tag_list: complaintsAbout(tag_list),
  topics: complaintsAbout(topics),
})

const complaintsAbout = (names: readonly string[] = []): string[] => [
  ...(names.some((name) => [...name.trim()].length > longest) ? [tooLong(longest)] : []),
  ...(names.some((name) => /\p{Cc}/u.test(name.trim())) ? ['is invalid'] : []),
]
