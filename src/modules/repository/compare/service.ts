import { emptyTreeOid, type Oid } from '../../../git/format/oid.ts'
import { mergeBase } from '../../../git/history/ancestry.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import type { FilePatch, PatchLimits } from '../../../git/history/patch-reader.ts'
import { completeLimits, patchesBetweenTrees } from '../../../git/history/patches.ts'
import { type Commit, readCommit, readCommitsWithin } from '../../../git/objects/commits.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'

const maxCommits = 10_000
/** Maximum characters of all messages. */
const maxMessageCharacters = 32 * 1024 * 1024
/** After this timeout the response has the commits only; the diff is still computed and cached for later requests. */
const differenceTimeoutMs = 20_000

type Difference = { readonly files: readonly FilePatch[]; readonly overflow: boolean }

type How = { readonly straight: boolean } & Pick<PatchLimits, 'fileBytes'>

/**
 * The commits in `to` that are not in `from`, oldest first, and the diff since the merge base, or with `straight` since
 * `from`. Unrelated histories are compared with the empty tree. No process for a small comparison, otherwise one or more the first
 * time; cached unless it is too large.
 */
export async function compare(repo: Repository, from: Oid, to: Oid, how: How) {
  if (from === to) return { commits: [], files: [], cut: false }
  const [found, difference] = await Promise.all([commitsBetween(repo, from, to), changes(repo, from, to, how)])
  return { commits: found.commits, files: difference.files, cut: found.more || difference.overflow }
}

/** The newest, if there are too many. */
async function commitsBetween(repo: Repository, from: Oid, to: Oid): Promise<{ commits: Commit[]; more: boolean }> {
  const ids = await memoize(
    repo,
    `between ${from} ${to}`,
    (repo) => listCommitIds(repo, { from: [to], excluding: [from] }, { limit: maxCommits + 1 }),
    (oids) => 80 * oids.length,
  )
  const { commits, cut } = await readCommitsWithin(repo, ids.slice(0, maxCommits), maxMessageCharacters)
  return { commits: commits.toReversed(), more: cut || ids.length > maxCommits }
}

async function changes(repo: Repository, from: Oid, to: Oid, { straight, fileBytes }: How): Promise<Difference> {
  const base = straight ? from : await mergeBase(repo, from, to)
  const [old, now] = await Promise.all([base && readCommit(repo, base), readCommit(repo, to)])
  const oldTree = old?.tree ?? emptyTreeOid
  const newTree = now?.tree ?? emptyTreeOid
  if (oldTree === newTree) return { files: [], overflow: false }
  return withTimeout(
    patchesBetweenTrees(repo, oldTree, newTree, { ...completeLimits, fileBytes }, { wide: true }),
    differenceTimeoutMs,
  )
}

/** The difference; empty with `overflow` if it takes longer than `timeoutMs`. */
export function withTimeout(difference: Promise<Difference>, timeoutMs: number): Promise<Difference> {
  const { promise, resolve, reject } = Promise.withResolvers<Difference>()
  const timer = setTimeout(() => resolve({ files: [], overflow: true }), timeoutMs)
  difference.then(resolve, reject).finally(() => clearTimeout(timer))
  return promise
}
