import { allows, type Facts } from '../../../access/policy.ts'
import { alsoAsking } from '../../../api/also-asking.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { forbidden, invalid, notFound } from '../../../kernel/failure.ts'
import { placeOf } from '../../groups/index.ts'
import { noteableFacts } from '../noteables/facts.ts'
import { kindOf } from '../noteables/kinds.ts'
import type { Discussed, Noteable } from '../noteables/noteable.ts'
import type { WantedPlace } from '../positions/position.ts'
import type { Applied } from '../quick-actions/apply.ts'
import { suggestionsAt } from '../suggestions/service.ts'
import { newDiscussionId } from './discussion-id.ts'
import { findRoot, hasUnresolved, makeThread, type Resolvable, resolveNotes, unresolveNotes } from './queries.ts'
import { type DiscussionRow, findDiscussion, findFirstNote, type NoteRow } from './record-queries.ts'
import {
  addNote,
  addSystemNote,
  editNote,
  getNote,
  holdNoteable,
  type NewText,
  requireRoom,
  saveNote,
  withQuickActions,
} from './service.ts'
import { factsOfNote, type NoteSubject } from './subject.ts'
import { requireText } from './text.ts'

export async function getDiscussion(ctx: Ctx, noteable: Noteable, discussionId: string): Promise<DiscussionRow> {
  const found = await findDiscussion(ctx.db, noteable, ctx.actor, discussionId)
  if (!found) throw notFound('Discussion')
  return found
}

/** The first note of a discussion, without reading the others, which may be long. Throws `not_found`. */
export async function getFirstNote(ctx: Ctx, noteable: Noteable, discussionId: string): Promise<NoteRow> {
  const found = await findFirstNote(ctx.db, noteable, ctx.actor, discussionId)
  if (!found) throw notFound('Discussion')
  return found
}

/** Starts a discussion of a noteable, or of a position in its diff. */
export async function beginDiscussion(
  ctx: Ctx,
  discussed: Discussed,
  { body, createdAt, wanted }: NewText & { wanted: WantedPlace | undefined },
): Promise<DiscussionRow | Applied> {
  requireText(body)
  const place = wanted && discussed.placeOf ? await discussed.placeOf(ctx, wanted) : null
  return withQuickActions(ctx, discussed, body, async (text) => {
    const discussionId = newDiscussionId()
    const suggestions = await suggestionsAt(ctx, discussed, place?.position ?? null, text)
    const input = { discussionId, body: text, threaded: true, place, suggestions, createdAt }
    return async (within) => {
      const added = await addNote(within, discussed, input)
      return getDiscussion(within, added.discussed, discussionId)
    }
  })
}

/**
 * Replies to a discussion, at its position. A reply turns a single note into a discussion, unless the kind forbids that; a resolved
 * discussion stays resolved. Throws `invalid` for a system note.
 */
export async function answer(
  ctx: Ctx,
  discussed: Discussed,
  { discussionId, body, createdAt }: NewText & { discussionId: string },
): Promise<NoteRow | Applied> {
  const first = await getFirstNote(ctx, discussed, discussionId)
  // Before quick actions, which may be all that the text has.
  requireAnswerable(discussed, first)
  return withQuickActions(ctx, discussed, body, async (text) => {
    const suggestions = await suggestionsAt(ctx, discussed, first.position, text)
    return async (within) => {
      const id = await within.transaction(async (tx) => {
        await holdNoteable(tx, discussed)
        const root = await findRoot(tx, discussed, discussionId)
        if (!root) throw notFound('Discussion')
        requireAnswerable(discussed, root)
        if (!root.threaded) await makeThread(tx, discussed, discussionId)
        const { position, changed_line, resolved } = root
        const place = { position, changedLine: changed_line ?? undefined }
        const input = { discussionId, body: text, threaded: true, place, resolved, suggestions, createdAt }
        const note = await saveNote(tx, within, discussed, input)
        await requireRoom(tx, discussed, discussionId)
        return note
      })
      return getNote(within, discussed, id)
    }
  })
}

/** Throws `invalid` if the first note of a discussion has no replies. */
function requireAnswerable(
  { type }: Discussed,
  { system, threaded }: { readonly system: boolean; readonly threaded: boolean },
): void {
  if (system || (!threaded && kindOf(type).replies === 'to discussions'))
    throw invalid('Discussion is an individual note.')
}

/** Resolves a discussion or one note of it, or reopens it. Adds a system note when every discussion is resolved. */
async function settle(ctx: Ctx, discussed: Discussed, which: Resolvable, resolved: boolean): Promise<void> {
  const userId = ctx.actor!.id
  await ctx.transaction(async (tx) => {
    await holdNoteable(tx, discussed)
    if (resolved) return resolveHeld(tx, discussed, which, userId)
    if ((await unresolveNotes(tx, discussed, which)) > 0)
      await emitSettled(tx, 'discussion_unresolved', discussed, which, userId)
  })
}

/** A noteable with its number in its holder. */
type Numbered = Noteable & { readonly iid: number }

/** Resolves a discussion or one note of it, as this user. The noteable is locked. */
export async function resolveHeld(tx: Tx, noteable: Numbered, which: Resolvable, userId: number): Promise<void> {
  if ((await resolveNotes(tx, noteable, which, userId)) === 0) return
  if (!(await hasUnresolved(tx, noteable))) await addSystemNote(tx, noteable, userId, 'resolved all threads')
  await emitSettled(tx, 'discussion_resolved', noteable, which, userId)
}

const emitSettled = (
  tx: Tx,
  kind: 'discussion_resolved' | 'discussion_unresolved',
  noteable: Numbered,
  { discussionId, noteId }: Resolvable,
  userId: number,
): Promise<void> =>
  emit(tx, {
    kind,
    ...placeOf(noteable.holder),
    actorId: userId,
    payload: { ...noteableFacts(noteable), discussion_id: discussionId, note_id: noteId ?? null },
  })

const notResolvable = () => invalid('Discussion cannot be resolved.')

export async function settleDiscussion(
  ctx: Ctx,
  discussed: Discussed,
  discussionId: string,
  resolved: boolean,
): Promise<DiscussionRow> {
  const first = await getFirstNote(ctx, discussed, discussionId)
  if (!first.threaded) throw notResolvable()
  await settle(ctx, discussed, { discussionId }, resolved)
  return getDiscussion(ctx, discussed, discussionId)
}

/** Changes the text of a note, or resolves it: each requires another ability, when the change is written, too. */
export async function changeNote(
  ctx: Ctx,
  subject: NoteSubject,
  { body, resolved }: { body?: string; resolved?: boolean },
): Promise<NoteRow> {
  const { note, discussed } = subject
  const rule = discussed.policy[body === undefined ? 'resolve_discussion' : 'admin_note']
  const require = (facts: Facts | undefined) => {
    if (!rule || !facts || !allows(rule, ctx.actor, facts)) throw forbidden()
  }
  require(subject.facts)
  const asking = alsoAsking(ctx, async (now) => {
    const facts = await discussed.factsNow(now)
    require(facts && factsOfNote(note, ctx.actor, facts))
  })
  if (body !== undefined) return editNote(asking, subject, body)
  if (!note.threaded) throw notResolvable()
  await settle(asking, discussed, { discussionId: note.discussion_id, noteId: note.id }, resolved === true)
  return getNote(ctx, discussed, note.id)
}
