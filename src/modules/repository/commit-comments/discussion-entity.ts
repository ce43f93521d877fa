import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { DiscussionRow, NoteRow } from './note-queries.ts'

const sha = Type.String()
const line = nullable(Type.Integer())

const NoteSchema = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the note' }),
    type: nullable(
      Type.String({
        enum: ['DiscussionNote', 'DiffNote', 'LegacyDiffNote'],
        description: 'Type of the note; null for a single comment',
      }),
    ),
    body: Type.String({ description: 'Text of the note in Markdown' }),
    author: described(UserReferenceSchema, 'User who wrote the note'),
    created_at: timestamp('Time at which the note was created'),
    updated_at: timestamp('Time of the last change'),
    system: Type.Boolean({ description: 'True for a system note' }),
    noteable_type: Type.String({ enum: ['Commit'], description: 'Kind of the target' }),
    noteable_id: Type.Null({ description: 'Always null; commits have no number' }),
    noteable_iid: Type.Null({ description: 'Always null; commits have no number' }),
    commit_id: Type.String({ description: 'Full hash of the commit' }),
    resolvable: Type.Boolean({ description: 'Always false; discussions of commits cannot be resolved' }),
    position: Type.Optional(
      Type.Object(
        {
          base_sha: described(sha, 'Full hash of the commit that the diff compares with'),
          start_sha: described(sha, 'Same as `base_sha`'),
          head_sha: described(sha, 'Full hash of the commit'),
          position_type: Type.String({ enum: ['text'], description: 'Kind of the position' }),
          old_path: Type.String({ description: 'Path of the file before the commit' }),
          new_path: Type.String({ description: 'Path of the file after the commit' }),
          old_line: described(line, 'Line number before the commit; null for an added line'),
          new_line: described(line, 'Line number after the commit; null for a removed line'),
        },
        { title: 'CommitNotePosition', description: 'Position in the diff; absent for general notes' },
      ),
    ),
  },
  { title: 'CommitNote' },
)

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
    id: Type.String({ description: 'ID of the discussion: a hash in hex' }),
    individual_note: Type.Boolean({ description: 'True for a single comment without replies' }),
    notes: Type.Array(NoteSchema, { description: 'Notes, oldest first' }),
  }),
  present: ({ discussion_id, notes }: DiscussionRow, ctx) => ({
    id: discussion_id,
    individual_note: typeOf(notes[0]!) === null,
    notes: notes.map((note) => present(note, ctx)),
  }),
})
