import { branchRef } from '../../../git/format/ref-name.ts'
import { Failure } from '../../../kernel/failure.ts'
import { nameGlob } from '../../../kernel/glob.ts'

/** Source: supplement to the API documents, "Management endpoints". */
const maxLength = 4000

/** Throws `unprocessable` unless the filter is empty or a possible branch, in which `*` stands for any text. */
export function requireBranchFilter(filter: string): void {
  if (filter === '') return
  if (filter.length > maxLength || branchRef(filter.replaceAll('*', 'x')) === undefined)
    throw new Failure('unprocessable', 'Invalid branch filter given')
}

/** Whether pushes to the branch are sent to a hook with this filter. */
export const isFiltered = (filter: string, branch: string): boolean => filter !== '' && !nameGlob(filter)(branch)
