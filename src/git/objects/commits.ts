import { Failure } from '../../kernel/failure.ts'
import { parseObjectText } from '../format/object-text.ts'
import { emptyTreeOid, type Oid } from '../format/oid.ts'
import { getCached, memoize, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { readObject } from './read-object.ts'
import { parseSignature, type Signature } from './signature.ts'

export type Commit = {
  readonly oid: Oid
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: Signature
  readonly committer: Signature
  /** Complete, including a trailing newline. */
  readonly message: string
  /** The armoured signature (OpenPGP, SSH or X.509); it signs the object without this header. Not `gpgsig-sha256`, which signs another object. */
  readonly signature: string | undefined
}

/** The first line of a message, not shortened. */
export const titleOf = (message: string): string =>
  message.trim() === '' ? '--no commit message' : message.split(/[\r\n]/, 1)[0]!

/** Approximate size in memory, in bytes. */
const sizeOf = ({ message, signature }: Commit): number => 400 + 2 * (message.length + (signature?.length ?? 0))

/** Larger commits are treated as missing. */
const maxCommitBytes = 8 * 1024 * 1024

/**
 * Reads a commit without a process, then cached. `undefined` if the repository has no such commit. For an
 * annotated tag, the commit it refers to.
 */
export function readCommit(repo: Repository, oid: Oid): Promise<Commit | undefined> {
  return memoize(
    repo,
    `commit ${oid}`,
    async (repo) => {
      const found = await readObject(repo, oid, maxCommitBytes, 'commit')
      return found?.content && parseCommit(found.oid, found.content)
    },
    sizeOf,
  )
}

/** Like `readCommit` for a commit to which a ref or another commit refers: throws `unavailable` if the repository has lost it. */
export async function readTip(repo: Repository, oid: Oid): Promise<Commit> {
  const commit = await readCommit(repo, oid)
  if (!commit) throw repo.damage(`commit ${oid}`)
  return commit
}

/**
 * The tree of the first parent, also for a merge; the empty tree for a root commit. Throws `unavailable` if the repository has lost the
 * parent.
 */
export const treeBefore = async (repo: Repository, { parents }: Pick<Commit, 'parents'>): Promise<Oid> =>
  parents[0] ? (await readTip(repo, parents[0])).tree : emptyTreeOid

/** Caches a new commit after it has been stored. */
export function cacheCommit(repo: Repository, commit: Commit): void {
  setCached(repo, `commit ${commit.oid}`, commit, sizeOf(commit))
}

/** Like `readCommit` for several commits, concurrently, in the order of `oids`. */
export const readCommits = (repo: Repository, oids: readonly Oid[]): Promise<(Commit | undefined)[]> =>
  Promise.all(oids.map((oid) => readCommit(repo, oid)))

/** Commits read at a time; bounds memory when there are many. */
const readAtOnce = 100

/** Larger commits are read singly, so that a hundred with megabytes each are never in memory at once. */
const smallCommitBytes = 64 * 1024

/** Like `readCommit`; `large` instead of a commit that is large and not cached. */
async function readSmallCommit(repo: Repository, oid: Oid): Promise<Commit | 'large' | undefined> {
  const known = getCached<Commit>(repo, `commit ${oid}`)
  if (known) return known
  const found = await readObject(repo, oid, smallCommitBytes, 'commit')
  if (!found) return undefined
  if (!found.content) return 'large'
  const commit = parseCommit(found.oid, found.content)
  setCached(repo, `commit ${oid}`, commit, sizeOf(commit))
  return commit
}

/**
 * Commits in the order of `oids`, `undefined` for missing ones. Those of a hundred are read at once, and each large one when it is its turn, so that
 * few of megabytes are in memory together unless the caller keeps them.
 */
export async function* commitsInTurn(repo: Repository, oids: readonly Oid[]): AsyncGenerator<Commit | undefined> {
  for (let at = 0; at < oids.length; at += readAtOnce) {
    const batch = oids.slice(at, at + readAtOnce)
    const found = await Promise.all(batch.map((oid) => readSmallCommit(repo, oid)))
    for (const [index, commit] of found.entries()) yield commit === 'large' ? readCommit(repo, batch[index]!) : commit
  }
}

/** Maximum characters of the messages of a page: a message may have megabytes. */
const maxPageCharacters = 32 * 1024 * 1024

/** The commits of a page of a list, in the order of `oids`, `undefined` for missing ones. Fails as `too_large` if their messages are. */
export async function readCommitPage(repo: Repository, oids: readonly Oid[]): Promise<(Commit | undefined)[]> {
  const page: (Commit | undefined)[] = []
  let characters = 0
  for await (const commit of commitsInTurn(repo, oids)) {
    characters += commit?.message.length ?? 0
    if (characters > maxPageCharacters)
      throw new Failure('too_large', 'The commits are too large for one list: use a lower per_page')
    page.push(commit)
  }
  return page
}

/**
 * Commits in the order of `oids`, without missing ones, until their messages exceed `maxCharacters` in total, since each may
 * have megabytes. `cut` is true if commits were omitted.
 */
export async function readCommitsWithin(
  repo: Repository,
  oids: readonly Oid[],
  maxCharacters: number,
): Promise<{ readonly commits: readonly Commit[]; readonly cut: boolean }> {
  const commits: Commit[] = []
  let size = 0
  for await (const commit of commitsInTurn(repo, oids)) {
    if (!commit) continue
    size += commit.message.length
    if (size > maxCharacters) return { commits, cut: true }
    commits.push(commit)
  }
  return { commits, cut: false }
}

/** Parses the content of a commit object. */
export function parseCommit(oid: Oid, content: Buffer): Commit {
  const { headers, message } = parseObjectText(content)
  return {
    oid,
    tree: (headers.get('tree')?.[0] ?? '') as Oid,
    parents: (headers.get('parent') ?? []) as Oid[],
    author: parseSignature(headers.get('author')?.[0] ?? ''),
    committer: parseSignature(headers.get('committer')?.[0] ?? ''),
    message,
    signature: headers.get('gpgsig')?.[0],
  }
}
