import { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import { disposition } from '../../../api/disposition.ts'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import { findEntry } from '../../../git/objects/trees.ts'
import { archiveStream, canArchive } from '../../../git/transfer/archive.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { withoutTrailing } from '../../../kernel/without-ends.ts'
import { openRepository, type ProjectRow } from '../../projects/index.ts'
import { defaultRef, findCommitId, immutableCacheControl, isImmutable } from '../commits/revision.ts'
import { type ArchiveSuffix, archiveName, archiveSuffixes, contentTypeOf } from './names.ts'

export type Wanted = { readonly sha?: string; readonly path?: string; readonly suffix: ArchiveSuffix }

/**
 * Streams an archive of a project's files at a commit. One round trip to git and one process; none for HEAD. Throws if
 * the commit or path does not exist, or if the program for the format is not installed.
 */
export async function archiveBody(
  ctx: Ctx,
  project: ProjectRow,
  { sha, path: asked, suffix }: Wanted,
  { reply, head }: { reply: Reply; head: boolean },
): Promise<RawBody> {
  const repo = openRepository(ctx, project)
  const commit = await findCommitId(repo, sha || defaultRef(project))
  if (!commit) throw notFound('File')
  const path = withoutTrailing(asked ?? '', '/') || undefined
  if (path !== undefined && !(await findEntry(repo, commit, path))) throw notFound('File')
  const format = archiveSuffixes[suffix]
  if (!(await canArchive(repo, format)))
    throw new Failure('unprocessable', 'This server has no bzip2: request tar.gz, tar or zip')
  const name = archiveName(project.path, sha || project.default_branch || 'HEAD', commit, path)
  reply.header('content-disposition', disposition('attachment', `${name}.${format}`))
  if (isImmutable(sha ?? '', commit)) reply.header('cache-control', immutableCacheControl)
  const body = head
    ? Readable.from([])
    : await archiveStream(repo, commit, { format, prefix: `${name}/`, ...(path !== undefined && { path }) })
  return { body, contentType: contentTypeOf(format) }
}
