import { textOf } from '../../../api/cached-records.ts'
import { disposition } from '../../../api/disposition.ts'
import { endpoint, type Reply, raw } from '../../../api/endpoint.ts'
import { FilePath, Filled, Params } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import { openRepository, project } from '../../projects/index.ts'
import { immutableCacheControl, isImmutable } from '../commits/revision.ts'
import { contentSha256 } from './content-hash.ts'
import { RepositoryFile } from './entity.ts'
import { metadataHeaders, setMetadata } from './headers.ts'
import { jsonContent } from './json-content.ts'
import { rawBlob } from './raw.ts'
import { type FoundFile, findFile, lastCommitOf } from './service.ts'

const fileParams = Params({
  file_path: FilePath({ maxLength: maxPathLength, description: 'Full path of the file, URL-encoded' }),
  ref: Filled({ description: 'Branch, tag or commit' }),
})

const nothing = Buffer.alloc(0)
/** Maximum size in bytes of a file whose response is cached as text. */
const maxCachedBytes = 64 * 1024

/** Data of the headers about a file. Cached except for the ref: one round trip to git if everything else is cached. */
async function fileFacts(repo: Repository, found: FoundFile, reply: Reply, content?: Buffer) {
  const known = await memoize(
    repo,
    `file ${found.commit}:${found.path}`,
    async (repo) => {
      const made = [lastCommitOf(repo, found), contentSha256(repo, found.blob, content)] as const
      const [lastCommit, sha256] = await Promise.all(made)
      return sha256 === undefined ? undefined : { lastCommit, sha256 }
    },
    () => 250,
  )
  if (!known) throw notFound('File')
  const facts = { ...found, ...known }
  setMetadata(reply, facts)
  if (isImmutable(found.ref, found.commit)) reply.header('cache-control', immutableCacheControl)
  return facts
}

export const fileRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/files/:file_path',
    summary: 'Get a file',
    description: 'The content is Base64. HEAD returns the metadata as headers.',
    scopes: ['read_repository'],
    subject: project,
    allow: 'read_code',
    params: fileParams,
    headers: metadataHeaders,
    large: 'content',
    returns: RepositoryFile,
    async handle({ subject, params, ctx, reply, head }) {
      const repo = openRepository(ctx, subject)
      const found = await findFile(repo, params.ref, params.file_path)
      // The response depends only on the commit and on the path and ref of the URL.
      reply.header('etag', `W/"${found.commit}"`)
      if (head) return { ...(await fileFacts(repo, found, reply)), content: nothing }
      if (found.sizeBytes > maxCachedBytes) {
        const content = await jsonContent(repo, found.blob, found.sizeBytes, 'File')
        return { ...(await fileFacts(repo, found, reply, content)), content }
      }
      const facts = await fileFacts(repo, found, reply)
      const key = `${repo.cacheKey}${found.commit} ${JSON.stringify([found.ref, found.path])}`
      return textOf(ctx, RepositoryFile, key, async () => ({
        ...facts,
        content: await jsonContent(repo, found.blob, found.sizeBytes, 'File'),
      }))
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/files/:file_path/raw',
    summary: 'Get raw content of a file',
    scopes: ['read_repository'],
    subject: project,
    allow: 'read_code',
    params: fileParams,
    headers: metadataHeaders,
    returns: raw('text/plain'),
    async handle({ subject, params, ctx, reply, head }) {
      const repo = openRepository(ctx, subject)
      const found = await findFile(repo, params.ref, params.file_path)
      await fileFacts(repo, found, reply)
      reply.header('content-disposition', disposition('inline', found.name))
      return rawBlob(repo, { blob: found.blob, sizeBytes: found.sizeBytes, what: 'File' }, { reply, head })
    },
  }),
]
