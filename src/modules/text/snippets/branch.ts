import { initialBranch } from '../../projects/index.ts'

/** The only branch of the repository of a snippet: its first commit, by the API, creates it. */
export const snippetBranch = initialBranch

/** Maximum files of a snippet. */
export const maxFiles = 10
