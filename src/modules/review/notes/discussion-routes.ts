import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, OneOf, Optional, Params, Text, Timestamp, Whole } from '../../../api/params/types.ts'
import { noteBody as body, discussionId as discussion_id, lineParams } from '../../repository/index.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { answer, beginDiscussion, changeNote, getDiscussion, settleDiscussion } from './discussion-service.ts'
import { Discussion, Note } from './entity.ts'
import { type DiscussionRow, discussionsOf, type NoteRow, notesOfDiscussion } from './record-queries.ts'
import { removeNote } from './service.ts'
import { noteOfDiscussion } from './subject.ts'

const base = '/projects/:id/merge_requests/:merge_request_iid/discussions'

const created_at = Optional(Timestamp({ description: 'Creation time; only for owners' }))
const resolved = Flag({ description: 'Resolves it; `false` reopens it' })
const sizeOrPlace = (description: string) => Optional(Whole({ minimum: 0, description }))

const position = Optional(
  Params(
    {
      base_sha: Text({ description: 'Merge base of a diff version' }),
      start_sha: Text({ description: 'Head of the target branch in that version' }),
      head_sha: Text({ description: 'Head of the source branch in that version' }),
      position_type: OneOf(['text', 'image'], { description: 'text for a line, image for a point of an image' }),
      ...lineParams,
      width: sizeOrPlace('Width of the image in pixels'),
      height: sizeOrPlace('Height of the image in pixels'),
      x: sizeOrPlace('Distance of the point from the left edge in pixels'),
      y: sizeOrPlace('Distance of the point from the upper edge in pixels'),
    },
    { description: 'Line or point of the diff; default: the whole merge request' },
  ),
)

export const discussionRoutes = [
  endpoint({
    method: 'GET',
    path: base,
    summary: 'List merge request discussions',
    description: 'Includes single notes. Oldest first.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: Discussion,
    handle: ({ subject, page, ctx }) => fetchPage<DiscussionRow>(ctx.db, discussionsOf(subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:discussion_id`,
    summary: 'Get a merge request discussion',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({ discussion_id }),
    returns: Discussion,
    handle: ({ subject, params, ctx }) => getDiscussion(ctx, subject, params.discussion_id),
  }),

  /** With a position: costs what the diff of that version costs. */
  endpoint({
    method: 'POST',
    path: base,
    summary: 'Create a merge request discussion',
    description: 'A position places the discussion on the diff.',
    subject: mergeRequest,
    allow: 'comment',
    params: Params({ body, position, created_at }),
    returns: Discussion,
    handle: ({ subject, params, ctx }) =>
      beginDiscussion(ctx, subject, { body: params.body, createdAt: params.created_at, wanted: params.position }),
  }),

  endpoint({
    method: 'PUT',
    path: `${base}/:discussion_id`,
    summary: 'Resolve a merge request discussion',
    description: '`resolved=false` reopens it.',
    subject: mergeRequest,
    allow: 'resolve_discussion',
    params: Params({ discussion_id, resolved }),
    returns: Discussion,
    handle: ({ subject, params, ctx }) => settleDiscussion(ctx, subject, params.discussion_id, params.resolved),
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:discussion_id/notes`,
    summary: 'List merge request discussion notes',
    description: 'Oldest first.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({ discussion_id }),
    paged: true,
    returns: Note,
    async handle({ subject, params, page, ctx }) {
      const { discussion_id: id } = await getDiscussion(ctx, subject, params.discussion_id)
      return fetchPage<NoteRow>(ctx.db, notesOfDiscussion(subject.id, id), page)
    },
  }),

  endpoint({
    method: 'POST',
    path: `${base}/:discussion_id/notes`,
    summary: 'Reply to a merge request discussion',
    subject: mergeRequest,
    allow: 'comment',
    params: Params({ discussion_id, body, created_at }),
    returns: Note,
    handle: ({ subject, params, ctx }) =>
      answer(ctx, subject, {
        discussionId: params.discussion_id,
        body: params.body,
        createdAt: params.created_at,
      }),
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:discussion_id/notes/:note_id`,
    summary: 'Get a merge request discussion note',
    subject: noteOfDiscussion,
    allow: 'read_merge_request',
    returns: Note,
    handle: async ({ subject }) => subject.note,
  }),

  /** What is asked for decides who may: see `changeNote`. */
  endpoint({
    method: 'PUT',
    path: `${base}/:discussion_id/notes/:note_id`,
    summary: 'Update a merge request discussion note',
    description: 'Edits the text or resolves the note.',
    subject: noteOfDiscussion,
    allow: 'read_merge_request',
    params: Params({ body: Optional(body), resolved: Optional(resolved) }, { exactlyOneOf: ['body', 'resolved'] }),
    returns: Note,
    handle: ({ subject, params, ctx }) => changeNote(ctx, subject, params),
  }),

  endpoint({
    method: 'DELETE',
    path: `${base}/:discussion_id/notes/:note_id`,
    summary: 'Delete a merge request discussion note',
    description: 'Authors delete their own notes; maintainers delete all.',
    subject: noteOfDiscussion,
    allow: 'admin_note',
    changedAt: (subject) => subject.note.updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeNote(ctx, subject),
  }),
]
