import { type Commit, titleOf } from '../../../git/objects/commits.ts'
import type { MergingRow } from './queries.ts'

/** Default message of the merge commit. Source: supplement to the API documents, "Merge". */
export const mergeMessage = ({ source_branch, target_branch, title, target, iid }: MergingRow): string =>
  [
    `Merge branch '${source_branch}' into '${target_branch}'`,
    '',
    title,
    '',
    `See merge request ${target.full_path}!${iid}`,
  ].join('\n')

/** The message has more than a title. */
const hasBody = ({ message }: Commit): boolean => message.trim() !== titleOf(message).trim()

/**
 * Default message of a squash commit, from commits oldest first: the message of the first commit that is no merge and has a body,
 * else the title of the merge request.
 */
export const squashMessage = ({ title }: Pick<MergingRow, 'title'>, commits: readonly Commit[]): string =>
  commits.find((commit) => commit.parents.length < 2 && hasBody(commit))?.message.trimEnd() ?? title
