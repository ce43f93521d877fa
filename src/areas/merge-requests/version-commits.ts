import type { Ctx } from '../../api/ctx.ts'
import { fetchPage, type Page, type Paged } from '../../api/page.ts'
import { type Commit, readCommits } from '../../git/commits.ts'
import type { Oid } from '../../git/oid.ts'
import type { Repository } from '../../git/repository.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { openRepository } from '../repositories/open.ts'
import { commitIdsOf, commitsOf } from './version-queries.ts'

/** Of messages, of which each may have megabytes; so they are read some at a time. */
const maxMessageCharacters = 32 * 1024 * 1024
const readAtOnce = 100

/** Commits as far as their messages fit into memory. */
async function readBounded(repo: Repository, oids: readonly Oid[]): Promise<Commit[]> {
  const commits: Commit[] = []
  let size = 0
  for (let at = 0; at < oids.length; at += readAtOnce) {
    for (const commit of await readCommits(repo, oids.slice(at, at + readAtOnce))) {
      size += commit?.message.length ?? 0
      if (size > maxMessageCharacters) return commits
      if (commit) commits.push(commit)
    }
  }
  return commits
}

/** Commits of a version, the newest first: as many as fit. */
export const allCommits = async (ctx: Ctx, project: ProjectSubject, versionId: number): Promise<Commit[]> =>
  readBounded(openRepository(ctx, project), await commitIdsOf(ctx.db, versionId))

/** A page of the same. */
export async function commitsPage(
  ctx: Ctx,
  project: ProjectSubject,
  versionId: number,
  page: Page,
): Promise<Paged<Commit>> {
  const found = await fetchPage<{ oid: Oid }>(ctx.db, commitsOf(versionId), page)
  const oids = found.rows.map(({ oid }) => oid)
  return { ...found, rows: await readBounded(openRepository(ctx, project), oids) }
}
