import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { noteBody as body, discussionId as discussion_id, lineParams } from '../discussions/params.ts'
import { CommitDiscussion, CommitNote } from './discussion-entity.ts'
import { answer, beginDiscussion, editNote, getDiscussion, getNote, removeNote } from './discussion-service.ts'
import { type DiscussionRow, discussionsOf, findNote, type NoteRow, notesOf } from './note-queries.ts'
import { getCommit } from './service.ts'

const base = '/projects/:id/repository/commits/:sha/discussions'

const sha = Text({ description: 'Hash, full or abbreviated, or name of a branch or tag' })
const note_id = Id({ description: 'Id of the note' })

const position = Optional(
  Params(
    {
      base_sha: Text({ description: 'The first parent of the commit' }),
      start_sha: Text({ description: 'The same' }),
      head_sha: Text({ description: 'The commit' }),
      position_type: OneOf(['text'], { description: 'A line of text' }),
      ...lineParams,
    },
    { atLeastOneOf: ['old_line', 'new_line'] },
  ),
)

export const commitDiscussionRoutes = [
  endpoint({
    method: 'GET',
    path: base,
    summary: 'Discussions of a commit, its comments among them, the oldest first',
    subject: project,
    allow: 'read_code',
    params: Params({ sha }),
    paged: true,
    returns: CommitDiscussion,
    async handle({ subject, params, page, ctx }) {
      const { oid } = await getCommit(ctx, subject, params.sha)
      return fetchPage<DiscussionRow>(ctx.db, discussionsOf(subject.id, oid), page)
    },
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:discussion_id`,
    summary: 'One discussion of a commit',
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
    summary: 'Begin a discussion of a commit, or of a line of its diff',
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
    summary: 'Notes of a discussion, the oldest first',
    subject: project,
    allow: 'read_code',
    params: Params({ sha, discussion_id }),
    paged: true,
    returns: CommitNote,
    async handle({ subject, params, page, ctx }) {
      const commit = await getCommit(ctx, subject, params.sha)
      const { discussion_id: discussionId } = await getDiscussion(ctx, subject, commit, params.discussion_id)
      return fetchPage<NoteRow>(ctx.db, notesOf({ projectId: subject.id, commit: commit.oid, discussionId }), page)
    },
  }),

  endpoint({
    method: 'POST',
    path: `${base}/:discussion_id/notes`,
    summary: 'Answer in a discussion',
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
    summary: 'One note of a discussion',
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
    summary: 'Change what one said; maintainers, what others did, too',
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
    summary: 'Take back what one said; maintainers, what others did, too',
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
