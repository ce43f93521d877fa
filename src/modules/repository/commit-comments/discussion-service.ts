import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { forbidden, invalid, notFound, rowNotFound } from '../../../kernel/failure.ts'
import type { WantedLine } from '../../discussion/index.ts'
import { newDiscussionId, refuseNote, requireText } from '../../discussion/index.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { diffLimits } from '../commits/diff-limits.ts'
import {
  type DiscussionKey,
  type DiscussionRow,
  deleteNote,
  findDiscussion,
  findNote,
  findRoot,
  type NoteRow,
  updateNote,
} from './note-queries.ts'
import { findPlace } from './place.ts'
import { saveComment } from './service.ts'

const keyOf = (project: ProjectSubject, commit: Commit, discussionId: string): DiscussionKey => ({
  projectId: project.id,
  commit: commit.oid,
  discussionId,
})

export async function getDiscussion(
  ctx: Ctx,
  project: ProjectSubject,
  commit: Commit,
  discussionId: string,
): Promise<DiscussionRow> {
  const found = await findDiscussion(ctx.db, keyOf(project, commit, discussionId))
  if (!found) throw notFound('Discussion')
  return found
}

/** Starts a discussion on a commit, or on a line in its diff. */
export async function beginDiscussion(
  ctx: Ctx,
  project: ProjectSubject,
  commit: Commit,
  { body, position: wanted }: { body: string; position?: WantedLine },
): Promise<DiscussionRow> {
  requireText(body)
  const place = wanted && (await findPlace(openRepository(ctx, project), commit, wanted, diffLimits(ctx.settings)))
  if (wanted && !place) throw refuseNote('position', 'is not in the diff of the commit')
  const id = newDiscussionId()
  const discussion = { id, threaded: true, position: place?.position ?? null }
  await saveComment(ctx, project, commit, { note: body, at: place?.at, discussion })
  return getDiscussion(ctx, project, commit, id)
}

/** Replies in a discussion; the reply has the same position. */
export async function answer(
  ctx: Ctx,
  project: ProjectSubject,
  commit: Commit,
  { discussionId, body }: { discussionId: string; body: string },
): Promise<NoteRow> {
  const key = keyOf(project, commit, discussionId)
  const root = await findRoot(ctx.db, key)
  if (!root) throw notFound('Discussion')
  const { threaded, position, at } = root
  if (!threaded && !at) throw invalid('Discussion is an individual note.')
  requireText(body)
  const { id } = await saveComment(ctx, project, commit, {
    note: body,
    at,
    discussion: { id: discussionId, threaded, position },
  })
  return getNote(ctx, project, commit, { discussionId, noteId: id })
}

/** A note in a path. */
type NoteName = { readonly discussionId: string; readonly noteId: number }

export async function getNote(
  ctx: Ctx,
  project: ProjectSubject,
  commit: Commit,
  { discussionId, noteId }: NoteName,
): Promise<NoteRow> {
  const note = await findNote(ctx.db, keyOf(project, commit, discussionId), noteId)
  if (!note) throw rowNotFound()
  return note
}

/** A note that the caller may change: their own, or any for maintainers. */
async function getOwnNote(ctx: Ctx, project: ProjectSubject, commit: Commit, name: NoteName): Promise<NoteRow> {
  const note = await getNote(ctx, project, commit, name)
  if (note.author.id !== ctx.actor!.id && !allows(projectPolicy.admin_note, ctx.actor, project.facts)) throw forbidden()
  return note
}

export async function editNote(
  ctx: Ctx,
  project: ProjectSubject,
  commit: Commit,
  { body, ...name }: NoteName & { body: string },
): Promise<NoteRow> {
  const { id } = await getOwnNote(ctx, project, commit, name)
  requireText(body)
  await ctx.transaction(async (tx) => {
    if (!(await updateNote(tx, id, body))) throw rowNotFound()
    await emit(tx, {
      kind: 'note_updated',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { note_id: id, noteable_type: 'Commit', commit_id: commit.oid },
    })
  })
  return getNote(ctx, project, commit, name)
}

export async function removeNote(ctx: Ctx, project: ProjectSubject, commit: Commit, name: NoteName): Promise<void> {
  const { id } = await getOwnNote(ctx, project, commit, name)
  await ctx.transaction(async (tx) => {
    if (!(await deleteNote(tx, id))) throw rowNotFound()
    await emit(tx, {
      kind: 'note_deleted',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { note_id: id, noteable_type: 'Commit', commit_id: commit.oid },
    })
  })
}
