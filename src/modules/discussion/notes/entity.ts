import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { DiscussionRow, NoteRow } from './record-queries.ts'

const sha = Type.String()
const number = Type.Optional(Type.Integer())
const line = Type.Optional(nullable(Type.Integer()))

const PositionSchema = Type.Object(
  {
    base_sha: sha,
    start_sha: sha,
    head_sha: sha,
    old_path: Type.String(),
    new_path: Type.String(),
    position_type: Type.String({ enum: ['text', 'image'], description: 'text with lines, or image with a point' }),
    old_line: line,
    new_line: line,
    width: number,
    height: number,
    x: number,
    y: number,
  },
  { description: 'Position in the diff; absent for general notes' },
)

const NoteSchema = Type.Object({
  id: Type.Integer(),
  type: nullable(
    Type.String({ enum: ['DiscussionNote', 'DiffNote'], description: 'Type of the note; null for a single note' }),
  ),
  body: Type.String(),
  attachment: Type.Null({ description: 'Always empty; files are linked in the text' }),
  author: UserReferenceSchema,
  created_at: timestamp(),
  updated_at: timestamp(),
  system: Type.Boolean({ description: 'True for a system note' }),
  noteable_id: Type.Integer({ description: 'ID of the merge request' }),
  noteable_type: Type.String(),
  noteable_iid: Type.Integer(),
  position: Type.Optional(PositionSchema),
  resolvable: Type.Boolean(),
  resolved: Type.Optional(
    Type.Boolean({ description: 'Absent for notes that cannot be resolved, as is `resolved_by`' }),
  ),
  resolved_by: Type.Optional(nullable(UserReferenceSchema)),
})

/** Compat: by these names clients tell what may be answered, and what is shown in the diff. */
const typeOf = ({ position, threaded }: NoteRow): string | null =>
  position ? 'DiffNote' : threaded ? 'DiscussionNote' : null

const present = (note: NoteRow, ctx: Ctx) => ({
  id: note.id,
  type: typeOf(note),
  body: note.body,
  attachment: null,
  author: userReference(note.author, ctx),
  created_at: note.created_at,
  updated_at: note.updated_at,
  system: note.system,
  noteable_id: note.noteable_id,
  noteable_type: note.noteable_type as string,
  noteable_iid: note.noteable_iid,
  ...(note.position && { position: note.position }),
  resolvable: note.threaded,
  ...(note.threaded && {
    resolved: note.resolved_at !== null,
    resolved_by: note.resolved_by && userReference(note.resolved_by, ctx),
  }),
})

export const Note = entity({ name: 'Note', schema: NoteSchema, present })

export const Discussion = entity({
  name: 'Discussion',
  schema: Type.Object({
    id: Type.String(),
    individual_note: Type.Boolean({
      description: 'True for a single note without replies; the first reply makes it a discussion',
    }),
    notes: Type.Array(NoteSchema),
  }),
  present: ({ discussion_id, notes }: DiscussionRow, ctx) => ({
    id: discussion_id,
    individual_note: !notes[0]!.threaded,
    notes: notes.map((note) => present(note, ctx)),
  }),
})
