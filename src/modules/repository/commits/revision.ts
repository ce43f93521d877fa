import { type Oid, parseOid } from '../../../git/format/oid.ts'
import { type Commit, readCommit } from '../../../git/objects/commits.ts'
import { resolve } from '../../../git/refs/resolve.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import type { ProjectRow } from '../../projects/index.ts'

/**
 * The commit that a caller's ref names: a full or abbreviated id, a branch, a tag. One round trip to git; none for a
 * full id that was read before.
 */
export async function findCommitId(repo: Repository, ref: string): Promise<Oid | undefined> {
  const id = parseOid(ref)
  return (id && (await readCommit(repo, id))?.oid) ?? (await resolve(repo, ref))
}

/** The commit itself; fails unless the text names one. One round trip for a commit that was read before. */
export async function getCommit(repo: Repository, name: string): Promise<Commit> {
  const id = await findCommitId(repo, name)
  const commit = id && (await readCommit(repo, id))
  if (!commit) throw notFound('Commit')
  return commit
}

/** What is read when the caller names no ref; as a full name, so that no tag is mistaken for the branch. */
export const defaultRef = ({ default_branch }: Pick<ProjectRow, 'default_branch'>): string =>
  default_branch === null ? 'HEAD' : `refs/heads/${default_branch}`

/** What a full commit id names never changes, so the caller need not ask again. He keeps it to himself. */
export const immutableCacheControl = 'max-age=3600, private, immutable'

/** True when `ref` is not a name that may move to another commit. */
export const isImmutable = (ref: string, commit: Oid): boolean => ref === commit
