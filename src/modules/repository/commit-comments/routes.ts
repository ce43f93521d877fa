import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { FilePath, OneOf, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { discussionRoutesOf, internalFlags } from '../../discussion/index.ts'
import { CommitComment, CommitCommentCreated } from './entity.ts'
import { commentsOf, commitCommentRow } from './queries.ts'
import { createComment } from './service.ts'
import { commit, discussedCommit } from './subject.ts'

export const commitCommentRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/comments',
    summary: 'List comments of a commit',
    description: 'Oldest first.',
    subject: commit,
    allow: 'read_code',
    paged: true,
    returns: CommitComment,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, commitCommentRow, commentsOf(ctx.actor, subject.id), page),
  }),

  /** With a path: costs what the commit's diff costs. */
  endpoint({
    method: 'POST',
    path: '/projects/:id/repository/commits/:sha/comments',
    summary: 'Create a commit comment',
    description: 'The comment is on the commit or on a line that it changed.',
    subject: commit,
    allow: 'comment',
    params: Params({
      note: Text({ description: 'Text of the comment in Markdown' }),
      path: Optional(FilePath({ maxLength: maxPathLength, description: 'Path after the commit' })),
      line: Optional(Whole({ description: 'Position in the new file; needed with a path' })),
      line_type: OneOf(['new', 'old'], { default: 'new', description: 'Type of the line' }),
      ...internalFlags,
    }),
    returns: CommitCommentCreated,
    async handle({ subject, params, ctx }) {
      const { note, path, line, line_type } = params
      if (path && line === undefined) throw new ParameterError('line is missing')
      const wanted = path && line !== undefined ? { path, line, kind: line_type } : undefined
      return createComment(ctx, subject, { note, wanted })
    },
  }),
]

export const commitDiscussionRoutes = discussionRoutesOf(discussedCommit)
