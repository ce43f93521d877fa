import type { FieldViolations } from '../../../kernel/failure.ts'
import { tooLong } from '../../../kernel/violations.ts'

/** Topics of a request, by the newer parameter or the older one. */
export type TopicWish = { readonly tag_list?: readonly string[]; readonly topics?: readonly string[] }

/** Maximum characters, as for topics that administrators declare. */
const maxTopicLength = 255

/** Sorted, trimmed, without empty names and duplicates. */
export const topicsOf = (names: readonly string[]): string[] =>
  [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].sort()

/**
 * The topics that a request wants; undefined if it names none. The newer parameter counts if both are sent, as by clients that send a record
 * back in which they have changed one of them.
 */
export function wishedTopics({ topics, tag_list }: TopicWish): string[] | undefined {
  const wished = topics ?? tag_list
  return wished && topicsOf(wished)
}

/** Errors of invalid topics, by the parameter that was used. */
export const topicViolations = ({ tag_list, topics }: TopicWish): FieldViolations => ({
  tag_list: violationsAbout(tag_list),
  topics: violationsAbout(topics),
})

const violationsAbout = (names: readonly string[] = []): string[] => [
  ...(names.some((name) => [...name.trim()].length > maxTopicLength) ? [tooLong(maxTopicLength)] : []),
  ...(names.some((name) => /\p{Cc}/u.test(name.trim())) ? ['is invalid'] : []),
]
