import { endpoint, raw } from '../../../api/endpoint.ts'
import { slicePage } from '../../../api/page.ts'
import { FilePath, Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { type Oid, parseOid } from '../../../git/format/oid.ts'
import { maxListedPathLength } from '../../../git/format/path-length.ts'
import { blobSize } from '../../../git/objects/blobs.ts'
import { listTree } from '../../../git/objects/tree-listing.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import { withoutTrailing } from '../../../kernel/without-ends.ts'
import { openRepository, project } from '../../projects/index.ts'
import { defaultRef, findCommitId, immutableCacheControl, isImmutable } from '../commits/revision.ts'
import { jsonContent } from '../files/json-content.ts'
import { rawBlob } from '../files/raw.ts'
import { Blob, TreeEntry } from './entity.ts'
import { keysetPage } from './keyset.ts'

const blobParams = Params({ sha: Text({ description: 'Hash of the blob' }) })
const nothing = Buffer.alloc(0)

/** Fails unless `sha` is the full id of a blob. One round trip. */
async function findBlob(repo: Repository, sha: string): Promise<{ oid: Oid; sizeBytes: number }> {
  const oid = parseOid(sha.toLowerCase())
  const sizeBytes = oid && (await blobSize(repo, oid))
  if (oid === undefined || sizeBytes === undefined) throw notFound('Blob')
  return { oid, sizeBytes }
}

export const treeRoutes = [
  /**
   * One round trip for the ref, one more if the directory is not cached; recursive, one for each level of directories that are not
   * cached. Pages are slices of the cached listing.
   */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/tree',
    summary: 'List files and directories',
    subject: project,
    allow: 'read_code',
    params: Params({
      path: FilePath({ default: '', maxLength: maxListedPathLength, description: 'Directory; default: the root' }),
      ref: Optional(Text({ description: 'Branch, tag or commit; default: the default branch' })),
      recursive: Flag({ default: false, description: 'Include entries of subdirectories' }),
      page_token: Optional(Text({ description: 'Keyset pagination: value from the link of the previous page' })),
    }),
    paged: true,
    returns: TreeEntry,
    async handle({ subject, params, page, ctx, reply }) {
      const repo = openRepository(ctx, subject)
      const commit = await findCommitId(repo, params.ref || defaultRef(subject))
      if (!commit) throw notFound('Tree')
      if (isImmutable(params.ref ?? '', commit)) reply.header('cache-control', immutableCacheControl)
      const path = withoutTrailing(params.path, '/')
      const entries = (await listTree(repo, commit, path, { recursive: params.recursive })) ?? []
      if (!page.keyset) return slicePage(entries, page)
      const url = new URL(`${ctx.site.apiUrl}/projects/${subject.id}/repository/tree`)
      if (path !== '') url.searchParams.set('path', path)
      if (params.ref) url.searchParams.set('ref', params.ref)
      if (params.recursive) url.searchParams.set('recursive', 'true')
      return keysetPage(entries, page, params.page_token, { url, reply })
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/blobs/:sha',
    summary: 'Get a blob',
    description: 'The content is Base64.',
    subject: project,
    allow: 'read_code',
    params: blobParams,
    large: 'content',
    returns: Blob,
    async handle({ subject, params, ctx, reply, head }) {
      const repo = openRepository(ctx, subject)
      const { oid, sizeBytes } = await findBlob(repo, params.sha)
      reply.header('cache-control', immutableCacheControl)
      reply.header('etag', `W/"${oid}"`)
      return { oid, sizeBytes, content: head ? nothing : await jsonContent(repo, oid, sizeBytes, 'Blob') }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/blobs/:sha/raw',
    summary: 'Get raw content of a blob',
    subject: project,
    allow: 'read_code',
    params: blobParams,
    returns: raw('text/plain'),
    async handle({ subject, params, ctx, reply, head }) {
      const repo = openRepository(ctx, subject)
      const { oid, sizeBytes } = await findBlob(repo, params.sha)
      reply.header('cache-control', immutableCacheControl)
      reply.header('content-disposition', 'inline')
      return rawBlob(repo, { blob: oid, sizeBytes, what: 'Blob' }, { reply, head })
    },
  }),
]
