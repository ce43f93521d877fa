import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { as, endpoint, type Subject, variants } from '../../../api/endpoint.ts'
import { Flag, Optional, Params, Timestamp } from '../../../api/params/types.ts'
import { kindOf, type NoteableType } from '../noteables/kinds.ts'
import { type DiscussedSubject, type ResolvingAbility, withArticle } from '../noteables/noteable.ts'
import { AppliedActions } from '../quick-actions/entity.ts'
import {
  answer,
  beginDiscussion,
  changeNote,
  getDiscussion,
  getFirstNote,
  settleDiscussion,
} from './discussion-service.ts'
import { Discussion, Note } from './entity.ts'
import { fetchDiscussions, fetchNotes } from './pages.ts'
import {
  noteBody as body,
  describedBy,
  discussionId as discussion_id,
  internalFlags,
  positionInCommit,
  positionInVersion,
  quickActionsOf,
} from './params.ts'
import { discussionsOf, notesOfDiscussion } from './record-queries.ts'
import { isApplied, removeNote } from './service.ts'
import { noteOfDiscussion } from './subject.ts'

const created_at = Optional(Timestamp({ description: 'Creation time; only for owners' }))
const resolved = Flag({ description: 'Resolves it; `false` reopens it' })
/** The parameter `position` of kinds whose notes can have one. Its type is that with the most values. */
function positionOf(type: NoteableType): { readonly position: typeof positionInVersion } {
  const { diff } = kindOf(type)
  if (diff === undefined) return {} as { position: typeof positionInVersion }
  return { position: diff === 'versions' ? positionInVersion : (positionInCommit as typeof positionInVersion) }
}

/** What changes a note of a discussion that can be resolved; other notes only have a text. */
const change = Params(
  { body: Optional(body), resolved: Optional(resolved), ...internalFlags },
  { exactlyOneOf: ['body', 'resolved'] },
)

/** Endpoints of discussions of one kind of noteable. */
export function discussionRoutesOf<T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) {
  const path = `${about.path}/discussions`
  const of = noteOfDiscussion(about)
  const { resolvable, diff } = kindOf(about.type)
  const all = [
    endpoint({
      method: 'GET',
      path,
      summary: `List ${about.noun} discussions`,
      description: 'Includes single notes. Oldest first.',
      subject: about.subject,
      allow: about.read,
      paged: true,
      returns: Discussion,
      handle: ({ subject, page, ctx }) =>
        fetchDiscussions(ctx.db, discussionsOf(about.discussed(subject), ctx.actor), page),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:discussion_id`,
      summary: `Get ${withArticle(about.noun)} discussion`,
      subject: about.subject,
      allow: about.read,
      params: Params({ discussion_id }),
      returns: Discussion,
      handle: ({ subject, params, ctx }) => getDiscussion(ctx, about.discussed(subject), params.discussion_id),
    }),

    /** With a position: costs what the diff of that version costs. */
    endpoint({
      method: 'POST',
      path,
      summary: `Create ${withArticle(about.noun)} discussion`,
      ...describedBy(
        diff === undefined ? '' : 'A position places the discussion on the diff.',
        quickActionsOf(about.type),
      ),
      subject: about.subject,
      allow: 'comment',
      params: Params({ body, ...positionOf(about.type), created_at, ...internalFlags }),
      returns: variants(Discussion, AppliedActions),
      async handle({ subject, params, ctx }) {
        const made = await beginDiscussion(ctx, about.discussed(subject), {
          body: params.body,
          createdAt: params.created_at,
          wanted: params.position,
        })
        return isApplied(made) ? as(AppliedActions, made) : as(Discussion, made)
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:discussion_id/notes`,
      summary: `List ${about.noun} discussion notes`,
      description: 'Oldest first.',
      subject: about.subject,
      allow: about.read,
      params: Params({ discussion_id }),
      paged: true,
      returns: Note,
      async handle({ subject, params, page, ctx }) {
        const { discussion_id: id } = await getFirstNote(ctx, about.discussed(subject), params.discussion_id)
        return fetchNotes(ctx.db, notesOfDiscussion(about.discussed(subject), ctx.actor, id), page)
      },
    }),

    endpoint({
      method: 'POST',
      path: `${path}/:discussion_id/notes`,
      summary: `Reply to ${withArticle(about.noun)} discussion`,
      subject: about.subject,
      allow: 'comment',
      params: Params({ discussion_id, body, created_at, ...internalFlags }),
      ...describedBy(quickActionsOf(about.type)),
      returns: variants(Note, AppliedActions),
      async handle({ subject, params, ctx }) {
        const made = await answer(ctx, about.discussed(subject), {
          discussionId: params.discussion_id,
          body: params.body,
          createdAt: params.created_at,
        })
        return isApplied(made) ? as(AppliedActions, made) : as(Note, made)
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Get ${withArticle(about.noun)} discussion note`,
      subject: of,
      allow: about.read,
      returns: Note,
      handle: async ({ subject }) => subject.note,
    }),

    /** The requested change decides the permission: see `changeNote`. */
    endpoint({
      method: 'PUT',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Update ${withArticle(about.noun)} discussion note`,
      ...(resolvable && { description: 'Edits the text or resolves the note.' }),
      subject: of,
      allow: resolvable ? about.read : ('admin_note' as A),
      params: resolvable ? change : (Params({ body, ...internalFlags }) as unknown as typeof change),
      returns: Note,
      handle: ({ subject, params, ctx }) => changeNote(ctx, subject, params),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:discussion_id/notes/:note_id`,
      summary: `Delete ${withArticle(about.noun)} discussion note`,
      description: 'Authors delete their own notes; maintainers delete all.',
      subject: of,
      allow: 'admin_note',
      changedAt: (subject) => subject.note.updated_at,
      returns: null,
      handle: ({ subject, ctx }) => removeNote(ctx, subject),
    }),
  ]
  if (!resolvable) return all
  return [
    ...all,
    endpoint({
      method: 'PUT',
      path: `${path}/:discussion_id`,
      summary: `Resolve ${withArticle(about.noun)} discussion`,
      description: '`resolved=false` reopens it.',
      subject: about.subject as Subject<T, A | ResolvingAbility, P>,
      allow: 'resolve_discussion',
      params: Params({ discussion_id, resolved }),
      returns: Discussion,
      handle: ({ subject, params, ctx }) =>
        settleDiscussion(ctx, about.discussed(subject), params.discussion_id, params.resolved),
    }),
  ]
}
