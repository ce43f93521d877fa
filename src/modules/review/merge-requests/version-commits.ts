import type { Ctx } from '../../../api/ctx.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { textOf } from '../../../db/row.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type Commit, readCommitsWithin } from '../../../git/objects/commits.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { commitIdsOf, commitsOf } from './version-queries.ts'

/** Maximum characters of their messages together. */
const maxMessageCharacters = 32 * 1024 * 1024

/** Commits of a version, newest first, as many as the limit allows. */
export const allCommits = async (ctx: Ctx, project: ProjectSubject, versionId: number): Promise<readonly Commit[]> =>
  readBounded(ctx, project, await commitIdsOf(ctx.db, versionId))

/** One page of them. */
export async function commitsPage(
  ctx: Ctx,
  project: ProjectSubject,
  versionId: number,
  page: Page,
): Promise<Paged<Commit>> {
  const found = await fetchPage(ctx.db, { oid: textOf<Oid>() }, commitsOf(versionId), page)
  const oids = found.rows.map(({ oid }) => oid)
  return { ...found, rows: await readBounded(ctx, project, oids) }
}

const readBounded = async (ctx: Ctx, project: ProjectSubject, oids: readonly Oid[]): Promise<readonly Commit[]> =>
  (await readCommitsWithin(openRepository(ctx, project), oids, maxMessageCharacters)).commits
