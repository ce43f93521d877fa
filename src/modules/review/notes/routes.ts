import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { OneOf, Optional, Params, Timestamp } from '../../../api/params/types.ts'
import { noteBody as body } from '../../repository/index.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { Note } from './entity.ts'
import { type NoteRow, notesOf } from './record-queries.ts'
import { createNote, editNote, removeNote } from './service.ts'
import { note } from './subject.ts'

const base = '/projects/:id/merge_requests/:merge_request_iid/notes'

export const noteRoutes = [
  endpoint({
    method: 'GET',
    path: base,
    summary: 'List merge request notes',
    description: 'Returns comments and system notes.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({
      order_by: OneOf(['created_at', 'updated_at'], { default: 'created_at', description: 'Time to order by' }),
      sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Default: newest first' }),
    }),
    paged: true,
    returns: Note,
    handle: ({ subject, params, page, ctx }) => fetchPage<NoteRow>(ctx.db, notesOf(subject.id, params), page),
  }),

  endpoint({
    method: 'GET',
    path: `${base}/:note_id`,
    summary: 'Get a merge request note',
    subject: note,
    allow: 'read_merge_request',
    returns: Note,
    handle: async ({ subject }) => subject.note,
  }),

  endpoint({
    method: 'POST',
    path: base,
    summary: 'Create a merge request note',
    subject: mergeRequest,
    allow: 'comment',
    params: Params({ body, created_at: Optional(Timestamp({ description: 'Creation time; only for owners' })) }),
    returns: Note,
    handle: ({ subject, params, ctx }) => createNote(ctx, subject, { body: params.body, createdAt: params.created_at }),
  }),

  endpoint({
    method: 'PUT',
    path: `${base}/:note_id`,
    summary: 'Update a merge request note',
    description: 'Authors edit their own notes; maintainers edit all.',
    subject: note,
    allow: 'admin_note',
    params: Params({ body }),
    returns: Note,
    handle: ({ subject, params, ctx }) => editNote(ctx, subject, params.body),
  }),

  endpoint({
    method: 'DELETE',
    path: `${base}/:note_id`,
    summary: 'Delete a merge request note',
    description:
      'Authors delete their own notes; maintainers delete all. Deleting the last note deletes the discussion.',
    subject: note,
    allow: 'admin_note',
    changedAt: (subject) => subject.note.updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeNote(ctx, subject),
  }),
]
