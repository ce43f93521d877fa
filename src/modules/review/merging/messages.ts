import { type Commit, titleOf } from '../../../git/objects/commits.ts'
import { references } from '../../discussion/index.ts'
import type { MergingRow } from './queries.ts'

/** Default message of the merge commit. Source: supplement to the API documents, "Merge". */
export const mergeMessage = (row: MergingRow): string =>
  [
    `Merge branch '${row.source_branch}' into '${row.target_branch}'`,
    row.title,
    ...(row.closing.length > 0 ? [`Closes ${closedIssues(row)}`] : []),
    `See merge request ${row.target.full_path}!${row.iid}`,
  ].join('\n\n')

/** `#1, #2 and #3` */
function closedIssues({ closing, target: { id, full_path } }: MergingRow): string {
  const names = closing.map((issue) => references('Issue', issue, { of: 'project', id, full_path }).relative)
  return [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ')
}

/** The message has more than a title. */
const hasBody = ({ message }: Commit): boolean => message.trim() !== titleOf(message).trim()

/**
 * Default message of a squash commit, from commits oldest first: the message of the first commit that is no merge and has a body,
 * else the title of the merge request.
 */
export const squashMessage = ({ title }: Pick<MergingRow, 'title'>, commits: readonly Commit[]): string =>
  commits.find((commit) => commit.parents.length < 2 && hasBody(commit))?.message.trimEnd() ?? title
