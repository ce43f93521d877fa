import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { DiscussionRow, NoteRow } from './note-queries.ts'

const sha = Type.String()
const line = nullable(Type.Integer())

const NoteSchema = Type.Object({
  id: Type.Integer(),
  type: nullable(
    Type.String({
      enum: ['DiscussionNote', 'DiffNote', 'LegacyDiffNote'],
      description: 'Type of the note; null for a single comment',
    }),
  ),
  body: Type.String(),
  author: UserReferenceSchema,
  created_at: timestamp(),
  updated_at: timestamp(),
  system: Type.Boolean({ description: 'True for a system note' }),
  noteable_type: Type.String(),
  noteable_id: Type.Null({ description: 'Always null; commits have no number' }),
  noteable_iid: Type.Null(),
  commit_id: Type.String(),
  resolvable: Type.Boolean({ description: 'Always false; discussions of commits cannot be resolved' }),
  position: Type.Optional(
    Type.Object({
      base_sha: sha,
      start_sha: sha,
      head_sha: sha,
      position_type: Type.String(),
      old_path: Type.String(),
      new_path: Type.String(),
      old_line: line,
      new_line: line,
    }),
  ),
})

/** Compat: by these names clients tell what may be answered, and what is shown in the diff. */
const typeOf = ({ position, path, threaded }: NoteRow): string | null =>
  position ? 'DiffNote' : path !== null ? 'LegacyDiffNote' : threaded ? 'DiscussionNote' : null

const present = (note: NoteRow, ctx: Ctx) => ({
  id: note.id,
  type: typeOf(note),
  body: note.note,
  author: userReference(note.author, ctx),
  created_at: note.created_at,
  updated_at: note.updated_at,
  system: false,
  noteable_type: 'Commit',
  noteable_id: null,
  noteable_iid: null,
  commit_id: note.commit_oid,
  resolvable: false,
  ...(note.position && { position: note.position }),
})

export const CommitNote = entity({ name: 'CommitNote', schema: NoteSchema, present })

export const CommitDiscussion = entity({
  name: 'CommitDiscussion',
  schema: Type.Object({
    id: Type.String(),
    individual_note: Type.Boolean({ description: 'True for a single comment without replies' }),
    notes: Type.Array(NoteSchema),
  }),
  present: ({ discussion_id, notes }: DiscussionRow, ctx) => ({
    id: discussion_id,
    individual_note: typeOf(notes[0]!) === null,
    notes: notes.map((note) => present(note, ctx)),
  }),
})
