import { type Oid, parseOid } from '../../../git/format/oid.ts'
import { type Commit, readCommit } from '../../../git/objects/commits.ts'
import { resolve } from '../../../git/refs/resolve.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import type { ProjectRow } from '../../projects/index.ts'

/**
 * The commit of a caller's ref: a full or abbreviated id, a branch, a tag. One round trip to git; none for a cached
 * full id.
 */
export async function findCommitId(repo: Repository, ref: string): Promise<Oid | undefined> {
  const id = parseOid(ref)
  return (id && (await readCommit(repo, id))?.oid) ?? (await resolve(repo, ref))
}

/** The commit with this name; throws `not_found` otherwise. One round trip for a cached commit. */
export async function getCommit(repo: Repository, name: string): Promise<Commit> {
  const id = await findCommitId(repo, name)
  const commit = id && (await readCommit(repo, id))
  if (!commit) throw notFound('Commit')
  return commit
}

/** Default ref; a full name, so that a tag of the same name is not used. */
export const defaultRef = ({ default_branch }: Pick<ProjectRow, 'default_branch'>): string =>
  default_branch === null ? 'HEAD' : `refs/heads/${default_branch}`

/** A full commit id is immutable, so clients may cache the response, privately. */
export const immutableCacheControl = 'max-age=3600, private, immutable'

/** True if `ref` is a full id, which cannot move to another commit. */
export const isImmutable = (ref: string, commit: Oid): boolean => ref === commit
