import { type Commit, titleOf } from '../../../git/objects/commits.ts'
import type { MergingRow } from './queries.ts'

/** What the merge commit says when nobody says otherwise. Source: supplement to the API documents, "Merge". */
export const mergeMessage = ({ source_branch, target_branch, title, target, iid }: MergingRow): string =>
  [
    `Merge branch '${source_branch}' into '${target_branch}'`,
    '',
    title,
    '',
    `See merge request ${target.full_path}!${iid}`,
  ].join('\n')

/** Has more to say than its title. */
const hasBody = ({ message }: Commit): boolean => message.trim() !== titleOf(message).trim()

/**
 * What the one commit says that stands for several, oldest first: the first of them that is no merge and explains itself, else
 * the title of the merge request.
 */
export const squashMessage = ({ title }: Pick<MergingRow, 'title'>, commits: readonly Commit[]): string =>
  commits.find((commit) => commit.parents.length < 2 && hasBody(commit))?.message.trimEnd() ?? title
