import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { type Commit, titleOf } from '../../../git/objects/commits.ts'
import { invalidFields, notFound } from '../../../kernel/failure.ts'
import { blank } from '../../../kernel/violations.ts'
import type { ChangedLine } from '../../discussion/index.ts'
import { openRepository, type ProjectRow, recordActivity } from '../../projects/index.ts'
import { diffLimits } from '../commits/diff-limits.ts'
import { getCommit as commitOf } from '../commits/revision.ts'
import { isChangedLine } from './changed-line.ts'
import { type CommitCommentRow, insertComment, type NewComment } from './queries.ts'

/** The commit with this name; throws `not_found` otherwise. One round trip. */
export const getCommit = (ctx: Ctx, project: ProjectRow, name: string): Promise<Commit> =>
  commitOf(openRepository(ctx, project), name)

/**
 * Comments on a commit: on a line if the commit changed that line, otherwise on the whole. Emits `note_created` in the
 * same transaction.
 */
export async function createComment(
  ctx: Ctx,
  project: ProjectRow,
  commit: Commit,
  { note, wanted }: { note: string; wanted: ChangedLine | undefined },
): Promise<CommitCommentRow> {
  if (note.trim() === '') throw invalidFields({ note: [blank] }, 'save note')
  const at =
    wanted && (await isChangedLine(openRepository(ctx, project), commit, wanted, diffLimits(ctx.settings)))
      ? wanted
      : undefined
  return saveComment(ctx, project, commit, { note, at })
}

/** Saves a comment and emits its event. */
export function saveComment(
  ctx: Ctx,
  project: ProjectRow,
  commit: Commit,
  input: Pick<NewComment, 'note' | 'at' | 'discussion'>,
): Promise<CommitCommentRow> {
  const authorId = ctx.actor!.id
  return ctx.transaction(async (tx) => {
    const comment = await insertComment(tx, { projectId: project.id, commit: commit.oid, authorId, ...input })
    if (!comment) throw notFound('Project')
    await recordActivity(tx, project.id)
    await emit(tx, {
      kind: 'note_created',
      projectId: project.id,
      actorId: authorId,
      payload: {
        note_id: comment.id,
        noteable_type: 'Commit',
        commit_id: commit.oid,
      },
      shown: { target: { type: 'Note', id: comment.id, title: titleOf(commit.message) }, code: true },
    })
    return comment
  })
}
