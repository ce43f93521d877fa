import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { isNumbered, kindOf, noteableTypes } from '../noteables/kinds.ts'
import type { Applied } from '../quick-actions/apply.ts'
import { appliedOf, optionalApplied } from '../quick-actions/entity.ts'
import { Suggestion } from '../suggestions/entity.ts'
import type { DiscussionRow, NoteRow } from './record-queries.ts'

const sha = Type.String()
const number = Type.Optional(Type.Integer())
const line = Type.Optional(nullable(Type.Integer()))

const PositionSchema = Type.Object(
  {
    base_sha: described(sha, 'Full hash of the merge base, or of the commit that the diff compares with'),
    start_sha: described(sha, 'Full hash of the head of the target branch; for commits, same as `base_sha`'),
    head_sha: described(sha, 'Full hash of the head of the source branch, or of the commit'),
    old_path: Type.String({ description: 'Path of the file in the base' }),
    new_path: Type.String({ description: 'Path of the file in the head' }),
    position_type: Type.String({ enum: ['text', 'image'], description: 'text with lines, or image with a point' }),
    old_line: described(line, 'Line number in the base; null for an added line'),
    new_line: described(line, 'Line number in the head; null for a removed line'),
    width: described(number, 'Width of the image in pixels'),
    height: described(number, 'Height of the image in pixels'),
    x: described(number, 'Horizontal position in pixels'),
    y: described(number, 'Vertical position in pixels'),
  },
  { title: 'NotePosition', description: 'Position in the diff; absent for general notes' },
)

const NoteSchema = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the note' }),
    type: nullable(
      Type.String({
        enum: ['DiscussionNote', 'DiffNote', 'LegacyDiffNote'],
        description: 'Type of the note; null for a single note',
      }),
    ),
    body: Type.String({ description: 'Text of the note in Markdown' }),
    attachment: Type.Null({ description: 'Always empty; files are linked in the text' }),
    author: described(UserReferenceSchema, 'User who wrote the note'),
    created_at: timestamp('Time at which the note was created'),
    updated_at: timestamp('Time of the last change'),
    system: Type.Boolean({ description: 'True for a system note' }),
    noteable_id: nullable(Type.Integer(), { description: 'ID of what the note is about; null for commits' }),
    noteable_type: Type.String({ enum: [...noteableTypes], description: 'Kind of the target' }),
    noteable_iid: nullable(Type.Integer(), {
      description:
        'Number of what the note is about within its project or group; null for snippets and commits, which have none',
    }),
    commit_id: Type.Optional(
      Type.String({ description: 'Full hash of the commit; absent for notes on anything else' }),
    ),
    position: Type.Optional(PositionSchema),
    resolvable: Type.Boolean({ description: 'True if the note belongs to a discussion that can be resolved' }),
    resolved: Type.Optional(
      Type.Boolean({ description: 'Absent for notes that cannot be resolved, as is `resolved_by`' }),
    ),
    resolved_by: Type.Optional(
      nullable(UserReferenceSchema, { description: 'User who resolved the note; null if it is not resolved' }),
    ),
    suggestions: Type.Optional(
      Type.Array(Suggestion.schema, {
        description: 'Changes of lines that the text suggests; only for notes on lines of a diff',
      }),
    ),
    ...optionalApplied,
  },
  { title: 'Note' },
)

/** Compat: clients decide by these types whether a note accepts replies, and whether it is shown in the diff. */
export const noteTypeOf = ({
  position,
  changed_line,
  threaded,
}: Readonly<Record<'position' | 'changed_line', object | null>> & { readonly threaded: boolean }): string | null =>
  position ? 'DiffNote' : changed_line ? 'LegacyDiffNote' : threaded ? 'DiscussionNote' : null

const isResolvable = ({ threaded, noteable_type }: NoteRow): boolean => threaded && kindOf(noteable_type).resolvable

/** A note, in the answer to its creation with what its quick actions did. */
type Noted = NoteRow & { readonly applied?: Applied }

const present = (note: Noted, ctx: Ctx) => ({
  id: note.id,
  type: noteTypeOf(note),
  body: note.body,
  attachment: null,
  author: userReference(note.author, ctx),
  created_at: note.created_at,
  updated_at: note.updated_at,
  system: note.system,
  noteable_id: isNumbered(note.noteable_type) ? note.noteable_id : null,
  noteable_type: note.noteable_type as string,
  noteable_iid: kindOf(note.noteable_type).number === 'iid' ? note.noteable_iid : null,
  ...(note.commit_oid !== null && { commit_id: note.commit_oid }),
  ...(note.position && { position: note.position }),
  resolvable: isResolvable(note),
  ...(isResolvable(note) && {
    resolved: note.resolved_at !== null,
    resolved_by: note.resolved_by && userReference(note.resolved_by, ctx),
  }),
  ...(note.position?.position_type === 'text' && { suggestions: note.suggestions ?? [] }),
  ...(note.applied && appliedOf(note.applied)),
})

export const Note = entity({ name: 'Note', schema: NoteSchema, present })

export const Discussion = entity({
  name: 'Discussion',
  schema: Type.Object({
    id: Type.String({ description: 'ID of the discussion: a hash in hex' }),
    individual_note: Type.Boolean({
      description: 'True for a single note without replies; the first reply makes it a discussion, except on commits',
    }),
    notes: Type.Array(NoteSchema, { description: 'Notes, oldest first' }),
    ...optionalApplied,
  }),
  present: ({ discussion_id, notes, applied }: DiscussionRow & { readonly applied?: Applied }, ctx) => ({
    id: discussion_id,
    individual_note: !notes[0]!.threaded,
    notes: notes.map((note) => present(note, ctx)),
    ...(applied && appliedOf(applied)),
  }),
})
