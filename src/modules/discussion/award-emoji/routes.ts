import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { endpoint, type Subject } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import type { DiscussedSubject, NoteAbility } from '../noteables/noteable.ts'
import { noteOf } from '../notes/subject.ts'
import { AwardEmoji } from './entity.ts'
import { awardRow, awardsOf } from './queries.ts'
import { type Awarded, getAward, giveAward, withdrawAward } from './service.ts'

const award_id = Id({ description: 'ID of the award' })

/** Shared by everything that can be awarded. */
const awards = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  { read }: { readonly read: A },
  subject: Subject<T, A | NoteAbility, P>,
  path: string,
  what: string,
  awarded: (subject: T) => Awarded,
) => [
  endpoint({
    method: 'GET',
    path: `${path}/award_emoji`,
    summary: `List ${what} award emoji`,
    description: 'Oldest first.',
    subject,
    allow: read,
    paged: true,
    returns: AwardEmoji,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, awardRow, awardsOf(awarded(subject)), page),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/award_emoji/:award_id`,
    summary: `Get ${what} award emoji`,
    subject,
    allow: read,
    params: Params({ award_id }),
    returns: AwardEmoji,
    handle: ({ subject, params, ctx }) => getAward(ctx, awarded(subject), params.award_id),
  }),

  endpoint({
    method: 'POST',
    path: `${path}/award_emoji`,
    summary: `Add ${what} award emoji`,
    subject,
    allow: 'award',
    params: Params({ name: Text({ description: 'Short name of an emoji, without colons' }) }),
    returns: AwardEmoji,
    handle: ({ subject, params, ctx }) => giveAward(ctx, awarded(subject), params.name),
  }),

  endpoint({
    method: 'DELETE',
    path: `${path}/award_emoji/:award_id`,
    summary: `Delete ${what} award emoji`,
    description: 'Users delete their own awards; administrators delete all.',
    subject,
    allow: 'award',
    params: Params({ award_id }),
    changedAt: async (subject, params, ctx) => (await getAward(ctx, awarded(subject), params.award_id)).updated_at,
    returns: null,
    handle: ({ subject, params, ctx }) => withdrawAward(ctx, awarded(subject), params.award_id),
  }),
]

/** Endpoints of awards of one kind of noteable, and of the notes of it. */
export const awardEmojiRoutesOf = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) => [
  ...awards(about, about.subject, about.path, about.noun, (subject) => ({
    noteable: about.discussed(subject),
    noteId: null,
  })),
  ...awards(about, noteOf(about), `${about.path}/notes/:note_id`, 'note', ({ note, discussed }) => ({
    noteable: discussed,
    noteId: note.id,
  })),
]
