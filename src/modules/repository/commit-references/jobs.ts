import { textReader } from '../../discussion/index.ts'
import { mayNameCommit } from './named.ts'
import { addCommitReferences } from './service.ts'

/** Adds notes to the commits that texts mention by hash. */
export const commitsInTexts = textReader({
  name: 'refer_to_commits_named',
  mayName: mayNameCommit,
  read: addCommitReferences,
})
