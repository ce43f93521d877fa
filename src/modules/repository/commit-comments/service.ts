import type { Ctx } from '../../../api/ctx.ts'
import { invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { blank, tooLong } from '../../../kernel/violations.ts'
import { addNote, type ChangedLine, longestText, newDiscussionId } from '../../discussion/index.ts'
import { isChangedLine } from './place.ts'
import { type CommitCommentRow, findComment } from './queries.ts'
import { asDiscussed, type CommitSubject } from './subject.ts'

const violationOf = (note: string): string | undefined => {
  if (note.trim() === '') return blank
  return note.length > longestText ? tooLong(longestText) : undefined
}

/** Comments on a commit: on a line if the commit changed that line, otherwise on the whole. A comment on a line can be answered. */
export async function createComment(
  ctx: Ctx,
  subject: CommitSubject,
  { note, wanted }: { note: string; wanted: ChangedLine | undefined },
): Promise<CommitCommentRow> {
  const violation = violationOf(note)
  if (violation !== undefined) throw invalidFields({ note: [violation] }, 'save note')
  const changedLine = wanted && (await isChangedLine(ctx, subject, wanted)) ? wanted : undefined
  const { id } = await addNote(ctx, asDiscussed(subject), {
    discussionId: newDiscussionId(),
    body: note,
    threaded: changedLine !== undefined,
    place: { position: null, changedLine },
    createdAt: undefined,
  })
  const comment = await findComment(ctx.db, id)
  if (!comment) throw rowNotFound()
  return comment
}
