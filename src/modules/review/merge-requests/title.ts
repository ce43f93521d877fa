/** Prefixes that mark a merge request as a draft. Source: supplement to the API documents, "Merge". */
const prefix = String.raw`(\[(WIP|Draft)\]|\(Draft\)|(WIP|Draft):|WIP\s)`

const draft = new RegExp(String.raw`^\s*${prefix}`, 'i')
const allPrefixes = new RegExp(String.raw`^(\s*${prefix})+\s*`, 'i')

/** Whether a title marks the merge request as a draft. */
export const isDraft = (title: string): boolean => draft.test(title)

/** The same as a regular expression of PostgreSQL, to be matched case-insensitively. */
export const draftPattern = draft.source

/** The title with or without a prefix of drafts; unchanged if it is right already, or if `wanted` is absent. */
export function titleAs(title: string, wanted: boolean | undefined): string {
  if (wanted === undefined || wanted === isDraft(title)) return title
  return wanted ? `Draft: ${title}` : title.replace(allPrefixes, '')
}
