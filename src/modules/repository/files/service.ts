import type { Oid } from '../../../git/format/oid.ts'
import { lastCommitOfPath } from '../../../git/history/history.ts'
import { findEntry } from '../../../git/objects/trees.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import { findCommitId } from '../commits/revision.ts'

/** A file in a commit. */
export type FoundFile = {
  /** As the caller wrote it. */
  readonly ref: string
  readonly commit: Oid
  readonly path: string
  readonly name: string
  readonly blob: Oid
  readonly sizeBytes: number
  readonly executable: boolean
}

/**
 * The file at `path` in the commit of `ref`; throws `not_found` if there is no such commit or file, and `unavailable` if its content is
 * lost. One round trip to git, and another if the directory is not cached. No process.
 */
export async function findFile(repo: Repository, ref: string, path: string): Promise<FoundFile> {
  const commit = await findCommitId(repo, ref)
  if (!commit) throw notFound('Commit')
  const entry = await findEntry(repo, commit, path)
  if (entry?.type !== 'blob') throw notFound('File')
  if (entry.sizeBytes === undefined) throw repo.damage(`blob ${entry.oid}`)
  return {
    ref,
    commit,
    path,
    name: entry.name,
    blob: entry.oid,
    sizeBytes: entry.sizeBytes,
    executable: entry.mode === '100755',
  }
}

/** The newest commit that changed the file. A walk of the history the first time, then cached. */
export const lastCommitOf = async (repo: Repository, { commit, path }: FoundFile): Promise<Oid> =>
  (await lastCommitOfPath(repo, commit, path))?.oid ?? commit
