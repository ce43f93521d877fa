import type { Static, TObject } from 'typebox'
import type { Caller } from '../../../access/actor.ts'
import type { Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type Subject, subject } from '../../../api/endpoint.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import type { Discussed, DiscussedSubject, NoteAbility } from '../noteables/noteable.ts'
import { findNote, type NoteRow } from './record-queries.ts'

export type NoteSubject = { readonly note: NoteRow; readonly discussed: Discussed; readonly facts: Facts }

/** Facts for what changes a note, from those of its noteable. */
export function factsOfNote(note: NoteRow, caller: Caller, facts: Facts): Facts {
  const isOwnNote = note.author.id === caller?.id && !facts.flags['locked']
  return { ...facts, flags: { ...facts.flags, own_note: isOwnNote, system_note: note.system } }
}

/** The note of a noteable that a path names; with `discussion_id`, within that discussion. One statement more than the noteable. */
const loadNote =
  <T extends { readonly facts: Facts }, A extends string, P extends TObject>(about: DiscussedSubject<T, A, P>) =>
  async (
    path: Record<string, unknown> & { note_id: number; discussion_id?: string },
    ctx: Ctx,
  ): Promise<NoteSubject | undefined> => {
    const found = await about.subject.load(path as Static<P>, ctx)
    if (!found) return undefined
    const discussed = about.discussed(found)
    const note = await findNote(ctx.db, discussed, ctx.actor, path.note_id, path.discussion_id)
    if (!note) throw rowNotFound()
    return { note, discussed, facts: factsOfNote(note, ctx.actor, found.facts) }
  }

const note_id = Id({ description: 'ID of the note' })

const identityOf = ({ note }: NoteSubject): unknown => note.id

/** A note of a noteable. */
export const noteOf = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
): Subject<NoteSubject, A | NoteAbility, TObject> =>
  subject({
    ...about.subject,
    params: Params({ ...about.subject.params.properties, note_id }) as TObject,
    load: loadNote(about) as never,
    identityOf,
  })

/** A note of a discussion. */
export const noteOfDiscussion = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
): Subject<NoteSubject, A | NoteAbility, TObject> =>
  subject({
    ...about.subject,
    params: Params({
      ...about.subject.params.properties,
      note_id,
      discussion_id: Text({ description: 'ID of the discussion' }),
    }) as TObject,
    load: loadNote(about) as never,
    identityOf,
  })
