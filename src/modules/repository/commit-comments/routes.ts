import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { FilePath, OneOf, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { project } from '../../projects/index.ts'
import { CommitComment, CommitCommentCreated } from './entity.ts'
import { commentsOf, commitCommentRow } from './queries.ts'
import { createComment, getCommit } from './service.ts'

const sha = Text({ description: 'Full or abbreviated commit hash, or branch or tag name' })

export const commitCommentRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/comments',
    summary: 'List comments of a commit',
    description: 'Oldest first.',
    subject: project,
    allow: 'read_code',
    params: Params({ sha }),
    paged: true,
    returns: CommitComment,
    async handle({ subject, params, page, ctx }) {
      const { oid } = await getCommit(ctx, subject, params.sha)
      return fetchPage(ctx.db, commitCommentRow, commentsOf(subject.id, oid), page)
    },
  }),

  /** With a path: costs what the commit's diff costs. */
  endpoint({
    method: 'POST',
    path: '/projects/:id/repository/commits/:sha/comments',
    summary: 'Create a commit comment',
    description: 'The comment is on the commit or on a line that it changed.',
    subject: project,
    allow: 'comment_commit',
    params: Params({
      sha,
      note: Text({ description: 'Text (Markdown)' }),
      path: Optional(FilePath({ maxLength: maxPathLength, description: 'Path after the commit' })),
      line: Optional(Whole({ description: 'Position in the new file; needed with a path' })),
      line_type: OneOf(['new', 'old'], { default: 'new', description: 'Type of the line' }),
    }),
    returns: CommitCommentCreated,
    async handle({ subject, params, ctx }) {
      const { note, path, line, line_type } = params
      if (path && line === undefined) throw new ParameterError('line is missing')
      const commit = await getCommit(ctx, subject, params.sha)
      const wanted = path && line !== undefined ? { path, line, kind: line_type } : undefined
      return createComment(ctx, subject, commit, { note, wanted })
    },
  }),
]
