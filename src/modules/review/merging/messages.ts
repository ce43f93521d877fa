import type { Commit } from '../../../git/objects/commits.ts'
import { references } from '../../discussion/index.ts'
import type { MergingRow } from './queries.ts'

/** Default message of the merge commit. Source: supplement to the API documents, "Merge". */
export const mergeMessage = (row: MergingRow): string =>
  [
    `Merge branch '${row.source_branch}' into '${row.target_branch}'`,
    row.title,
    closes(row),
    `See merge request ${row.target.full_path}!${row.iid}`,
  ]
    .filter(Boolean)
    .join('\n\n')

/** `Closes #1, #2 and #3`; empty if it closes none. */
export function closes({ closing, target: { id, full_path } }: MergingRow): string {
  const names = closing.map((issue) => references('Issue', issue, { of: 'project', id, full_path }).relative)
  const list = [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ')
  return list && `Closes ${list}`
}

export const isMerge = ({ parents }: Commit): boolean => parents.length > 1

/** What the message has after its first line. */
export const bodyOf = ({ message }: Commit): string => message.trim().replace(/^.*/, '').trim()

export const firstWithBody = (commits: readonly Commit[]): Commit | undefined =>
  commits.find((commit) => !isMerge(commit) && bodyOf(commit) !== '')

/**
 * Default message of a squash commit, from commits oldest first: the message of the first commit that is no merge and has a body,
 * else the title of the merge request.
 */
export const squashMessage = ({ title }: Pick<MergingRow, 'title'>, commits: readonly Commit[]): string =>
  firstWithBody(commits)?.message.trimEnd() ?? title
