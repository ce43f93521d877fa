import type { Oid } from '../../../git/format/oid.ts'
import { branchName, type RefName } from '../../../git/format/ref-name.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { RemoteUpdate } from '../../../git/transfer/mirror.ts'

type Refs = ReadonlyMap<RefName, Oid>

export type PushPlan = {
  readonly updates: readonly RemoteUpdate[]
  /** Refs with commits of their own that stay. */
  readonly diverged: readonly RefName[]
}

/**
 * The pushes that make a remote equal to a project. Refs that only the remote has are deleted if the history of the default branch has
 * their commit, so that nothing is lost. With `keep`, refs with commits of their own stay, and nothing is deleted.
 */
export async function planPush(
  repo: Repository,
  { local, remote, main }: { local: Refs; remote: Refs; main: Oid | undefined },
  { follows, keep }: { follows: (name: RefName) => boolean; keep: boolean },
): Promise<PushPlan> {
  const updates: RemoteUpdate[] = []
  const diverged: RefName[] = []
  for (const [name, to] of local) {
    const from = remote.get(name)
    if (!follows(name) || from === to) continue
    const force = from !== undefined && !(await continues(repo, name, from, to))
    if (force && keep) diverged.push(name)
    else updates.push({ name, to, force })
  }
  if (keep || main === undefined) return { updates, diverged }
  for (const [name, oid] of remote)
    if (follows(name) && !local.has(name) && (await isIn(repo, oid, main))) updates.push({ name, to: null, from: oid })
  return { updates, diverged }
}

/** Whether a branch of the remote only moves forward. Commits that are not here are not in the history of any branch. */
const continues = async (repo: Repository, name: RefName, from: Oid, to: Oid): Promise<boolean> =>
  branchName(name) !== undefined && isIn(repo, from, to)

async function isIn(repo: Repository, ancestor: Oid, descendant: Oid): Promise<boolean> {
  // Of an annotated tag, the commit that it names.
  const [before, after] = await Promise.all([readCommit(repo, ancestor), readCommit(repo, descendant)])
  return before !== undefined && after !== undefined && isAncestor(repo, before.oid, after.oid)
}
