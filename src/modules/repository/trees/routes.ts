import { endpoint, raw } from '../../../api/endpoint.ts'
import { FilePath, Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { type Oid, parseOid } from '../../../git/format/oid.ts'
import { maxListedPathLength } from '../../../git/format/path-length.ts'
import { blobSize } from '../../../git/objects/blobs.ts'
import { indexOfPath, listTree, type PathEntries } from '../../../git/objects/tree-listing.ts'
import type { PathEntry } from '../../../git/objects/trees.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import { withoutTrailing } from '../../../kernel/without-ends.ts'
import { openRepository, project } from '../../projects/index.ts'
import { defaultRef, findCommitId, immutableCacheControl, isImmutable } from '../commits/revision.ts'
import { pageTokenParam, type Tokens, tokenPage } from '../commits/token-page.ts'
import { jsonContent } from '../files/json-content.ts'
import { rawBlob } from '../files/raw.ts'
import { Blob, TreeEntry } from './entity.ts'

const blobParams = Params({ sha: Text({ description: 'Hash of the blob' }) })
const nothing = Buffer.alloc(0)

/** Any path: one that is not UTF-8 cannot be in a URL as it is. */
const tokenOf = ({ path }: Pick<PathEntry, 'path'>): string => Buffer.from(path, 'utf16le').toString('base64url')

const tokensOf = (entries: PathEntries): Tokens<PathEntry> => ({
  tokenOf,
  indexOf(token) {
    const path = Buffer.from(token, 'base64url').toString('utf16le')
    return tokenOf({ path }) === token ? indexOfPath(entries, path) : -1
  },
})

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
      page_token: pageTokenParam('value from the link of the previous page'),
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
      return tokenPage(entries, page, tokensOf(entries), {
        token: params.page_token,
        url: `${ctx.site.apiUrl}/projects/${subject.id}/repository/tree`,
        query: {
          path: path || undefined,
          ref: params.ref || undefined,
          recursive: params.recursive ? 'true' : undefined,
        },
        reply,
      })
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
