import { emptyTreeOid, type Oid } from '../../../git/format/oid.ts'
import { mergeBase } from '../../../git/history/ancestry.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { type FilePatch, type PatchLimits, patchesBetweenTrees } from '../../../git/history/patches.ts'
import { type Commit, readCommit, readCommitsWithin } from '../../../git/objects/commits.ts'
import { remember } from '../../../git/repository/remember.ts'
import type { Repository } from '../../../git/repository/repository.ts'

/** The difference is whole as far as memory allows; a single file is bounded as everywhere. */
const limits = { files: 10_000, lines: 500_000, bytes: 20 * 1024 * 1024 } as const
const maxCommits = 10_000
/** Of their messages. */
const maxMessageCharacters = 32 * 1024 * 1024
/** Then the commits are told without the difference, which goes on being made for whoever asks again. */
const differenceTimeoutMs = 20_000

type Difference = { readonly files: readonly FilePatch[]; readonly overflow: boolean }

type How = { readonly straight: boolean } & Pick<PatchLimits, 'fileBytes'>

/**
 * The commits of `to` that `from` lacks, oldest first, and what changed: since the merge base, or `straight` from `from`.
 * Histories with nothing in common are compared with nothing. One process the first time, remembered but for what is
 * larger than the cache.
 */
export async function compare(repo: Repository, from: Oid, to: Oid, how: How) {
  if (from === to) return { commits: [], files: [], cut: false }
  const [found, difference] = await Promise.all([commitsBetween(repo, from, to), changes(repo, from, to, how)])
  return { commits: found.commits, files: difference.files, cut: found.more || difference.overflow }
}

/** With too many, the newest are kept. */
async function commitsBetween(repo: Repository, from: Oid, to: Oid): Promise<{ commits: Commit[]; more: boolean }> {
  const ids = await remember(
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
    patchesBetweenTrees(repo, oldTree, newTree, { ...limits, fileBytes }, { wide: true }),
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
