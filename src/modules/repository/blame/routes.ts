import { hash } from 'node:crypto'
import { endpoint, listed } from '../../../api/endpoint.ts'
import { FilePath, Filled, Optional, Params, Whole } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { openRepository, project } from '../../projects/index.ts'
import { immutableCacheControl, isImmutable } from '../commits/revision.ts'
import { contentSha256 } from '../files/content-hash.ts'
import { metadataHeaders, setMetadata } from '../files/headers.ts'
import { findFile, lastCommitOf } from '../files/service.ts'
import { BlameRange } from './entity.ts'
import { blameRows } from './service.ts'

export const blameRoutes = [
  /** HEAD computes no blame: it costs as much as HEAD of the file. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/files/:file_path/blame',
    summary: 'Get the blame of a file',
    description: 'Returns the last commit of each range of lines. HEAD returns the metadata of the file as headers.',
    scopes: ['read_repository'],
    subject: project,
    allow: 'read_code',
    params: Params({
      file_path: FilePath({ maxLength: maxPathLength, description: 'Full path of the file, URL-encoded' }),
      ref: Filled({ description: 'Branch, tag or commit' }),
      range: Optional(
        Params(
          {
            start: Whole({ minimum: 1, description: 'First line, from 1' }),
            end: Whole({ minimum: 1, description: 'Last line, included' }),
          },
          { description: 'Only this range of lines' },
        ),
      ),
    }),
    headers: metadataHeaders,
    large: 'difference',
    returns: listed(BlameRange),
    async handle({ subject, params, ctx, reply, head }) {
      const { ref, file_path, range } = params
      if (range && range.start > range.end) throw invalid('range[start] must be less than or equal to range[end]')
      const repo = openRepository(ctx, subject)
      const found = await findFile(repo, ref, file_path)
      const [lastCommit, sha256, rows] = await Promise.all([
        lastCommitOf(repo, found),
        contentSha256(repo, found.blob),
        head ? [] : blameRows(repo, found, range),
      ])
      if (sha256 === undefined) throw notFound('File')
      setMetadata(reply, { ...found, lastCommit, sha256 })
      if (isImmutable(ref, found.commit)) reply.header('cache-control', immutableCacheControl)
      // The response depends only on these; HEAD does not compute it.
      const facts = JSON.stringify(['blame', found.commit, ref, file_path, range])
      reply.header('etag', `W/"${hash('sha256', facts, 'hex').slice(0, 32)}"`)
      return rows
    },
  }),
]
