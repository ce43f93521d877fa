import { Type } from 'typebox'
import { reaches } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import type { PushedRefs } from '../../../events/catalogue.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { Note, type NoteRow, notesById, noteTypeOf, numberedTypes } from '../../discussion/index.ts'
import type { FeedRow } from './queries.ts'

const PushData = Type.Object(
  {
    commit_count: Type.Integer({ description: 'Number of new commits, at most 10,000' }),
    action: Type.String({ description: 'What the push did to the ref', enum: ['created', 'pushed', 'removed'] }),
    ref_type: Type.String({ description: 'Kind of the ref', enum: ['branch', 'tag'] }),
    commit_from: nullable(Type.String(), {
      description: 'Hash of the commit before the push; null if the ref was created',
    }),
    commit_to: nullable(Type.String(), {
      description: 'Hash of the commit after the push; null if the ref was deleted',
    }),
    ref: nullable(Type.String(), { description: 'Name of the branch or tag; null for a push of many refs' }),
    commit_title: nullable(Type.String({ description: 'Title of the newest commit, at most 70 characters' })),
    ref_count: nullable(Type.Integer({ description: 'Number of refs of a push of many refs, which are not listed' })),
  },
  { title: 'PushData', description: 'Details of a push; absent for other events' },
)

/** Names of actions in responses. */
const actionNames: Readonly<Record<Exclude<FeedRow['action'], 'pushed' | 'created'>, string>> = {
  updated: 'updated',
  closed: 'closed',
  reopened: 'reopened',
  commented: 'commented on',
  merged: 'accepted',
  joined: 'joined',
  left: 'left',
  destroyed: 'destroyed',
  expired: 'removed due to membership expiration from',
}

const pushNames: Readonly<Record<PushedRefs['action'], string>> = {
  created: 'pushed new',
  pushed: 'pushed to',
  removed: 'deleted',
}

/** What is not opened and closed. */
const createdTypes: ReadonlySet<string> = new Set(['Snippet', 'WikiPage::Meta'])

function actionName({ action, push, target_type }: FeedRow): string {
  if (push) return pushNames[push.action]
  // Projects, snippets and wiki pages are `created`; issues and the like are opened.
  if (action === 'created' || action === 'pushed')
    return target_type === null || createdTypes.has(target_type) ? 'created' : 'opened'
  return actionNames[action]
}

/** Types of notes that can be replied to, or are shown in a diff. */
const discussedTypes = ['DiscussionNote', 'DiffNote', 'LegacyDiffNote']

type Notes = ReadonlyMap<number, NoteRow>

const noteOf = ({ note_id }: FeedRow, notes: Notes): NoteRow | undefined =>
  note_id === null ? undefined : notes.get(note_id)

/** Compat: the target of a comment is the note, and targets without a number have their id as number. */
function targetOf(row: FeedRow, notes: Notes) {
  const note = noteOf(row, notes)
  if (note) return { target_id: note.id, target_iid: note.id, target_type: noteTypeOf(note) ?? 'Note' }
  return { target_id: row.target_id, target_iid: row.target_iid ?? row.target_id, target_type: row.target_type }
}

/** Applications in which users only sign in do not read what users write. */
const readsTexts = ({ actor }: Ctx): boolean => actor === null || reaches(actor.scopes, ['api', 'read_api'])

function noted(row: FeedRow, notes: Notes, ctx: Ctx) {
  const note = noteOf(row, notes)
  return note && readsTexts(ctx) && { note: Note.present(note, ctx, undefined) }
}

export const Event = entity({
  name: 'Event',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the event' }),
    project_id: nullable(Type.Integer(), { description: 'ID of the project; null for epics and notes on them' }),
    action_name: Type.String({
      enum: [...new Set([...Object.values(pushNames), 'created', 'opened', ...Object.values(actionNames)])],
      description: 'What the author did',
    }),
    target_id: nullable(Type.Integer(), { description: 'ID of the target; null if there is none' }),
    target_iid: nullable(Type.Integer(), {
      description: 'Number of the target within the project or group, or its ID if it has none; null without a target',
    }),
    target_type: nullable(
      Type.String({
        enum: [...numberedTypes, 'Milestone', 'Note', ...discussedTypes, 'WikiPage::Meta'],
        description: 'Kind of the target; null for projects, memberships and pushes. Comments have that of the note',
      }),
    ),
    author_id: Type.Integer({ description: 'ID of the user who acted' }),
    author: described(UserReferenceSchema, 'User who acted'),
    author_username: Type.String({ description: 'Username of the user who acted' }),
    target_title: nullable(Type.String(), {
      description: 'Title of the target, or of what a comment is about; null if there is none',
    }),
    created_at: timestamp('Time of the event'),
    note: Type.Optional(
      described(Note.schema, 'The comment; absent for other events, and for tokens without `api` or `read_api`'),
    ),
    push_data: Type.Optional(PushData),
  }),
  async gather(rows: readonly FeedRow[], ctx): Promise<Notes> {
    const ids = rows.flatMap(({ note_id }) => note_id ?? [])
    return new Map(ids.length === 0 ? [] : (await notesById(ctx.db, ids)).map((note) => [note.id, note]))
  },
  present: (row: FeedRow, ctx, notes) => ({
    id: row.id,
    project_id: row.project_id,
    action_name: actionName(row),
    ...targetOf(row, notes),
    author_id: row.author.id,
    author: userReference(row.author, ctx),
    author_username: row.author.username,
    target_title: row.target_title,
    created_at: row.created_at,
    ...noted(row, notes, ctx),
    ...(row.push && { push_data: row.push }),
  }),
})
