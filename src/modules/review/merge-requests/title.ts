/** White space of Unicode. Listed, because `\s` has other characters in PostgreSQL than in JavaScript, depending on the locale. */
const space = String.raw`[\u0009-\u000D\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]`

/** Prefixes that mark a merge request as a draft. Source: supplement to the API documents, "Merge". */
const prefix = String.raw`(\[(WIP|Draft)\]|\(Draft\)|(WIP|Draft):|WIP${space})`

const draft = new RegExp(`^${space}*${prefix}`, 'i')
const allPrefixes = new RegExp(`^(${space}*${prefix})+${space}*`, 'i')

/** Whether a title marks the merge request as a draft. */
export const isDraft = (title: string): boolean => draft.test(title)

/** The same as a regular expression of PostgreSQL, to be matched case-insensitively. */
export const draftPattern = draft.source

/** The title with or without a prefix of drafts; unchanged if it is right already, or if `wanted` is absent. */
export function titleAs(title: string, wanted: boolean | undefined): string {
  if (wanted === undefined || wanted === isDraft(title)) return title
  return wanted ? `Draft: ${title}` : title.replace(allPrefixes, '')
}

/** Maximum characters of a title (`rules.ts`). */
const longest = 255

/** The title, cut to the maximum: for titles that no one can correct. */
export const shortened = (title: string): string => [...title.slice(0, 2 * longest)].slice(0, longest).join('')
