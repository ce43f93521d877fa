import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { readCommitsWithin } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { usersOfCommits } from '../../accounts/index.ts'

/** Commits read at a time, and the maximum length of their messages: only the addresses stay in memory. */
const atOnce = 500
const maxMessageCharacters = 32 * 1024 * 1024

/**
 * The users who committed these commits, for the setting that keeps them from approving; none on a plan without approvals. Reads
 * each commit, without a process.
 */
export async function committersOf(ctx: Ctx, repo: Repository, commits: readonly Oid[]): Promise<number[]> {
  if (commits.length === 0 || !planOffers(ctx.plan, 'starter')) return []
  const addresses = new Set<string>()
  for (let at = 0; at < commits.length; at += atOnce) {
    const { commits: read } = await readCommitsWithin(repo, commits.slice(at, at + atOnce), maxMessageCharacters)
    for (const { committer } of read) addresses.add(committer.email)
  }
  return usersOfCommits(ctx, addresses)
}
