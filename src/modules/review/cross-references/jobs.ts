import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueueWhere, job } from '../../../jobs/job.ts'
import { findDonePush } from '../../pushes/index.ts'
import { newCommits } from './commits.ts'
import {
  descriptionMayName,
  findDescription,
  findNoteText,
  movedBranch,
  noteMayName,
  type TextSource,
} from './queries.ts'
import { addCrossReferences } from './service.ts'

const ofText = (ctx: Ctx, found: TextSource, authorId: number): Promise<void> =>
  addCrossReferences(ctx, {
    text: found.text,
    authorId,
    project: { id: found.project_id, full_path: found.full_path },
    source: { projectId: found.project_id, noteable: { type: 'MergeRequest', id: found.id } },
    nameWithin: (path) => `merge request ${path}!${found.iid}`,
  })

/** Adds notes to the merge requests that title and description of another mention. */
export const referToNamedByDescription = job({
  name: 'refer_to_named_by_description',
  input: Type.Object({ mergeRequestId: Type.Integer(), userId: Type.Integer() }),
  key: ({ mergeRequestId, userId }) => `refer_to_named_by_description:${mergeRequestId}:${userId}`,
  attempts: 5,
  async run({ mergeRequestId, userId }, ctx) {
    const found = await findDescription(ctx.db, mergeRequestId)
    if (found) await ofText(ctx, found, userId)
  },
})

/** Adds notes to the merge requests that a note mentions. */
export const referToNamedByNote = job({
  name: 'refer_to_named_by_note',
  input: Type.Object({ noteId: Type.Integer() }),
  key: ({ noteId }) => `refer_to_named_by_note:${noteId}`,
  attempts: 5,
  async run({ noteId }, ctx) {
    const found = await findNoteText(ctx.db, noteId)
    if (found) await ofText(ctx, found, found.author_id)
  },
})

/** Adds notes to the merge requests that the messages of new commits of a push mention, for the user who pushed. */
export const referToNamedByCommits = job({
  name: 'refer_to_named_by_commits',
  input: Type.Object({ pushId: Type.Integer() }),
  key: ({ pushId }) => `refer_to_named_by_commits:${pushId}`,
  attempts: 5,
  async run({ pushId }, ctx) {
    const push = await findDonePush(ctx.db, pushId)
    if (!push || push.actor_id === null) return
    const found = await newCommits(ctx, push.project_id, push.changes)
    if (!found) return
    for (const { oid, message } of found.commits)
      await addCrossReferences(ctx, {
        text: message,
        authorId: push.actor_id,
        project: { id: push.project_id, full_path: found.fullPath },
        source: { projectId: push.project_id, commit: oid },
        nameWithin: (path) => `commit ${path === '' ? '' : `${path}@`}${oid}`,
      })
  },
})

/** Queues the search for mentions if title or description have changed and may have some. */
export const findNamedByDescription: Reaction<'merge_request_opened' | 'merge_request_updated'> = async (
  tx,
  { kind, actorId, payload: { merge_request_id: mergeRequestId, changes } },
) => {
  const isChanged = kind === 'merge_request_opened' || changes?.['title'] || changes?.['description']
  if (!isChanged || actorId === null) return
  const input = { mergeRequestId, userId: actorId }
  await enqueueWhere(tx, referToNamedByDescription, input, descriptionMayName(mergeRequestId))
}

export const findNamedByNote: Reaction<'note_created' | 'note_updated'> = async (
  tx,
  { payload: { note_id: noteId, noteable_type } },
) => {
  if (noteable_type === 'MergeRequest') await enqueueWhere(tx, referToNamedByNote, { noteId }, noteMayName(noteId))
}

export const findNamedByPush: Reaction<'pushed'> = (tx, { payload: { push_id: pushId } }) =>
  enqueueWhere(tx, referToNamedByCommits, { pushId }, movedBranch(pushId))
