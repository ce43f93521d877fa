import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import type { Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { loadMergeRequest, type MergeRequestSubject, mergeRequest } from '../merge-requests/subject.ts'
import { findNote, type NoteRow } from './record-queries.ts'

export type NoteSubject = { readonly note: NoteRow; readonly mergeRequest: MergeRequestSubject; readonly facts: Facts }

async function loadNote(
  path: { id: string; merge_request_iid: number; note_id: number; discussion_id?: string },
  ctx: Ctx,
): Promise<NoteSubject | undefined> {
  const about = await loadMergeRequest(path, ctx)
  const note = about && (await findNote(ctx.db, about.id, path.note_id, path.discussion_id))
  if (!about) return undefined
  if (!note) throw rowNotFound()
  const said = note.author.id === ctx.actor?.id && !about.facts.flags['locked']
  const flags = { ...about.facts.flags, said, system_note: note.system }
  return { note, mergeRequest: about, facts: { ...about.facts, flags } }
}

const params = { ...mergeRequest.params.properties, note_id: Id({ description: 'ID of the note' }) }

/** A note of a merge request. Three statements, of which that for the project is likely kept. */
export const note = subject({
  what: mergeRequest.what,
  params: Params(params),
  policy: mergeRequestPolicy,
  visible: 'read_project',
  load: loadNote,
})

/** The same as one of a discussion. */
export const noteOfDiscussion = subject({
  what: mergeRequest.what,
  params: Params({ ...params, discussion_id: Text({ description: 'ID of the discussion' }) }),
  policy: mergeRequestPolicy,
  visible: 'read_project',
  load: loadNote,
})
