import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { OneOf, Optional, Params, Timestamp } from '../../../api/params/types.ts'
import { type DiscussedSubject, withArticle } from '../noteables/noteable.ts'
import { AppliedActions } from '../quick-actions/entity.ts'
import { Note } from './entity.ts'
import { fetchNotes } from './pages.ts'
import { noteBody as body, describedBy, internalFlags, quickActionsOf } from './params.ts'
import { notesOf } from './record-queries.ts'
import { createNote, editNote, isApplied, removeNote } from './service.ts'
import { noteOf } from './subject.ts'

/** Endpoints of notes of one kind of noteable. */
export function noteRoutesOf<T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) {
  const path = `${about.path}/notes`
  const of = noteOf(about)
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List ${about.noun} notes`,
      description: 'Returns comments and system notes.',
      subject: about.subject,
      allow: about.read,
      params: Params({
        order_by: OneOf(['created_at', 'updated_at'], { default: 'created_at', description: 'Time to order by' }),
        sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Default: newest first' }),
      }),
      paged: true,
      returns: Note,
      handle: ({ subject, params, page, ctx }) =>
        fetchNotes(ctx.db, notesOf(about.discussed(subject), ctx.actor, params), page),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:note_id`,
      summary: `Get ${withArticle(about.noun)} note`,
      subject: of,
      allow: about.read,
      returns: Note,
      handle: async ({ subject }) => subject.note,
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create ${withArticle(about.noun)} note`,
      subject: about.subject,
      allow: 'comment',
      params: Params({
        body,
        created_at: Optional(Timestamp({ description: 'Creation time; only for owners' })),
        ...internalFlags,
      }),
      ...describedBy(quickActionsOf(about.type)),
      returns: variants(Note, AppliedActions),
      async handle({ subject, params, ctx }) {
        const made = await createNote(ctx, about.discussed(subject), {
          body: params.body,
          createdAt: params.created_at,
        })
        return isApplied(made) ? as(AppliedActions, made) : as(Note, made)
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:note_id`,
      summary: `Update ${withArticle(about.noun)} note`,
      description: 'Authors edit their own notes; maintainers edit all.',
      subject: of,
      allow: 'admin_note',
      params: Params({ body, ...internalFlags }),
      returns: Note,
      handle: ({ subject, params, ctx }) => editNote(ctx, subject, params.body),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:note_id`,
      summary: `Delete ${withArticle(about.noun)} note`,
      description:
        'Authors delete their own notes; maintainers delete all. Deleting the last note deletes the discussion.',
      subject: of,
      allow: 'admin_note',
      changedAt: (subject) => subject.note.updated_at,
      returns: null,
      handle: ({ subject, ctx }) => removeNote(ctx, subject),
    }),
  ]
}
