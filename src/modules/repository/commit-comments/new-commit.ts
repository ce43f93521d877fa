import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { type Commit, titleOf } from '../../../git/objects/commits.ts'
import { usersOfCommits } from '../../accounts/index.ts'
import { cleanTitle } from '../../discussion/index.ts'
import type { NewDiscussedCommit } from './queries.ts'

/** Maximum characters of a title that mails and activity lists show. */
const longestTitle = 255

export const shownTitle = ({ message }: Commit): string =>
  cleanTitle(titleOf(message).slice(0, longestTitle).toWellFormed())

/** What the row of a commit has. One statement. */
export const newDiscussedCommit = async (
  tx: Tx,
  ctx: Ctx,
  projectId: number,
  commit: Commit,
): Promise<NewDiscussedCommit> => ({
  projectId,
  oid: commit.oid,
  title: shownTitle(commit),
  authorIds: await usersOfCommits({ ...ctx, db: tx }, new Set([commit.author.email])),
})
