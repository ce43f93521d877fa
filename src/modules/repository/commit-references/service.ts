import type { Ctx } from '../../../api/ctx.ts'
import { type Commit, readCommit } from '../../../git/objects/commits.ts'
import { asAccount } from '../../accounts/index.ts'
import {
  groupOfText,
  insertCrossReference,
  type Mentioning,
  sourceName,
  type TextPlace,
} from '../../discussion/index.ts'
import { openRepository } from '../../projects/index.ts'
import { newDiscussedCommit } from '../commit-comments/new-commit.ts'
import { beginDiscussedCommit } from '../commit-comments/queries.ts'
import { findCommitId } from '../commits/revision.ts'
import { type NamedCommit, namedCommits } from './named.ts'
import { findCodeProjects, type NamedProjectRow } from './queries.ts'

/** The full path, in lower case, of the project of a commit; undefined if a text of a group does not name one. */
function pathOf({ path }: NamedCommit, place: TextPlace): string | undefined {
  if (path === undefined) return place.of === 'project' ? place.full_path.toLowerCase() : undefined
  return (path.includes('/') ? path : `${groupOfText(place)}/${path}`).toLowerCase()
}

/** The commit with this hash; undefined if there is none, or if the repository cannot be read. */
async function findCommit(ctx: Ctx, project: NamedProjectRow, hash: string): Promise<Commit | undefined> {
  const repo = openRepository(ctx, project)
  try {
    const oid = await findCommitId(repo, hash)
    return oid?.startsWith(hash) ? await readCommit(repo, oid) : undefined
  } catch {
    ctx.signal?.throwIfAborted()
    return undefined
  }
}

/**
 * Adds a system note to each commit that a text mentions, once for each source, of projects whose code the author may read; not to the
 * source itself. At most 100. A statement for the author, one for the projects, and for each commit a round trip to git and three statements.
 */
export async function addCommitReferences(ctx: Ctx, { text, authorId, ...from }: Mentioning): Promise<void> {
  const named = namedCommits(text, ctx.site.url).flatMap((each) => {
    const path = pathOf(each, from.place)
    return path === undefined ? [] : { path, hash: each.hash }
  })
  const author = named.length > 0 ? await asAccount(ctx, authorId) : undefined
  if (!author) return
  const rows = await findCodeProjects(author.db, author.actor, [...new Set(named.map(({ path }) => path))])
  const projects = new Map(rows.map((row) => [row.path_key, row]))
  for (const { path, hash } of named) {
    const project = projects.get(path)
    const commit = project && (await findCommit(ctx, project, hash))
    if (commit) await addReference(ctx, project, commit, { ...from, authorId })
  }
}

async function addReference(
  ctx: Ctx,
  { id: projectId, full_path }: NamedProjectRow,
  commit: Commit,
  { authorId, ...from }: Omit<Mentioning, 'text'>,
): Promise<void> {
  const { source } = from
  if ('commit' in source && source.commit === commit.oid && source.projectId === projectId) return
  const body = `mentioned in ${sourceName(from, { holder: { of: 'project', id: projectId }, full_path })}`
  await ctx.transaction(async (tx) => {
    const id = await beginDiscussedCommit(tx, await newDiscussedCommit(tx, ctx, projectId, commit))
    if (id !== undefined) await insertCrossReference(tx, { type: 'Commit', id }, { authorId, body, source })
  })
}
