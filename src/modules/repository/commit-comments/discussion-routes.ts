import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { noteBody as body, discussionId as discussion_id, lineParams } from '../../discussion/index.ts'
import { project } from '../../projects/index.ts'
import { CommitDiscussion, CommitNote } from './discussion-entity.ts'
import { answer, beginDiscussion, editNote, getDiscussion, getNote, removeNote } from './discussion-service.ts'
import { discussionRow, discussionsOf, findNote, noteRow, notesOf } from './note-queries.ts'
import { getCommit } from './service.ts'

const base = '/projects/:id/repository/commits/:sha/discussions'

const sha = Text({ description: 'Full or abbreviated commit hash, or branch or tag name' })
const note_id = Id({ description: 'ID of the note' })

const position = Optional(
  Params(
    {
      base_sha: Text({ description: 'First parent of the commit' }),
      start_sha: Text({ description: 'The same' }),
      head_sha: Text({ description: 'The commit' }),
      position_type: OneOf(['text'], { description: 'Position on a line of text' }),
      ...lineParams,
    },
    { atLeastOneOf: ['old_line', 'new_line'] },
  ),
)

export const commitDiscussionRoutes = [
  endpoint({
    method: 'GET',
    path: base,
    summary: 'List discussions of a commit',
    description: 'Includes its comments. Oldest first.',
    subject: project,
    allow: 'read_code',
    params: Params({ sha }),
    paged: true,
    returns: CommitDiscussion,
    async handle({ subject, params, page, ctx }) {
      const { oid } = await getCommit(ctx, subject, params.sha)
      return fetchPage(ctx.db, discussionRow, discussionsOf(subject.id, oid), page)
    },
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:discussion_id`,
    summary: 'Get a commit discussion',
    subject: project,
    allow: 'read_code',
    params: Params({ sha, discussion_id }),
    returns: CommitDiscussion,
    handle: async ({ subject, params, ctx }) =>
      getDiscussion(ctx, subject, await getCommit(ctx, subject, params.sha), params.discussion_id),
  }),

  /** With a position: costs what the commit's diff costs. */
  endpoint({
    method: 'POST',
    path: base,
    summary: 'Create a commit discussion',
    description: 'A position places the discussion on a line of the diff.',
    subject: project,
    allow: 'comment_commit',
    params: Params({ sha, body, position }),
    returns: CommitDiscussion,
    handle: async ({ subject, params, ctx }) =>
      beginDiscussion(ctx, subject, await getCommit(ctx, subject, params.sha), params),
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:discussion_id/notes`,
    summary: 'List notes of a commit discussion',
    description: 'Oldest first.',
    subject: project,
    allow: 'read_code',
    params: Params({ sha, discussion_id }),
    paged: true,
    returns: CommitNote,
    async handle({ subject, params, page, ctx }) {
      const commit = await getCommit(ctx, subject, params.sha)
      const { discussion_id: discussionId } = await getDiscussion(ctx, subject, commit, params.discussion_id)
      return fetchPage(ctx.db, noteRow, notesOf({ projectId: subject.id, commit: commit.oid, discussionId }), page)
    },
  }),

  endpoint({
    method: 'POST',
    path: `${base}/:discussion_id/notes`,
    summary: 'Reply to a commit discussion',
    subject: project,
    allow: 'comment_commit',
    params: Params({ sha, discussion_id, body }),
    returns: CommitNote,
    handle: async ({ subject, params, ctx }) =>
      answer(ctx, subject, await getCommit(ctx, subject, params.sha), {
        discussionId: params.discussion_id,
        body: params.body,
      }),
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:discussion_id/notes/:note_id`,
    summary: 'Get a commit discussion note',
    subject: project,
    allow: 'read_code',
    params: Params({ sha, discussion_id, note_id }),
    returns: CommitNote,
    handle: async ({ subject, params, ctx }) =>
      getNote(ctx, subject, await getCommit(ctx, subject, params.sha), {
        discussionId: params.discussion_id,
        noteId: params.note_id,
      }),
  }),

  endpoint({
    method: 'PUT',
    path: `${base}/:discussion_id/notes/:note_id`,
    summary: 'Update a commit discussion note',
    description: 'Authors edit their own notes; maintainers edit all.',
    subject: project,
    allow: 'comment_commit',
    params: Params({ sha, discussion_id, note_id, body }),
    returns: CommitNote,
    handle: async ({ subject, params, ctx }) =>
      editNote(ctx, subject, await getCommit(ctx, subject, params.sha), {
        discussionId: params.discussion_id,
        noteId: params.note_id,
        body: params.body,
      }),
  }),

  endpoint({
    method: 'DELETE',
    path: `${base}/:discussion_id/notes/:note_id`,
    summary: 'Delete a commit discussion note',
    description: 'Authors delete their own notes; maintainers delete all.',
    subject: project,
    allow: 'comment_commit',
    params: Params({ sha, discussion_id, note_id }),
    changedAt: async (subject, params, ctx) => {
      const { oid } = await getCommit(ctx, subject, params.sha)
      const key = { projectId: subject.id, commit: oid, discussionId: params.discussion_id }
      return (await findNote(ctx.db, key, params.note_id))?.updated_at
    },
    returns: null,
    handle: async ({ subject, params, ctx }) =>
      removeNote(ctx, subject, await getCommit(ctx, subject, params.sha), {
        discussionId: params.discussion_id,
        noteId: params.note_id,
      }),
  }),
]
