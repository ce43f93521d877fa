import { noteTypeOf } from '../../discussion/index.ts'
import { firstText } from '../../text/index.ts'
import { labelsOf, PayloadProject, userOf } from './blocks.ts'
import { issueAttributes } from './issue.ts'
import { lineCodeOf } from './line-code.ts'
import { mergeRequestAttributes } from './merge-request.ts'
import { findIssueRow, findMergeRequestRow, findNoteRow, findSnippetRow, type NoteRow } from './queries.ts'
import { asRecorded, type PayloadCtx } from './shown.ts'
import { type Builder, idIn } from './source.ts'

type About = { readonly type: string; readonly id: number | null; readonly path: string; readonly block: object }

/** What a note is about: the key of its payload that shows it, and its page. Undefined if it is gone. */
async function aboutOf(ctx: PayloadCtx, project: PayloadProject, note: NoteRow): Promise<About | undefined> {
  if (note.commit_oid !== null) {
    const commit = await project.commitBlock(note.commit_oid)
    return { type: 'Commit', id: null, path: `commit/${note.commit_oid}`, block: { commit } }
  }
  const { issue_id, snippet_id, merge_request_id } = note
  if (issue_id !== null) {
    const row = await asRecorded(ctx.shown?.issue, 'description', () => findIssueRow(ctx.db, issue_id))
    if (!row) return undefined
    const labels = await labelsOf(ctx, row.label_ids)
    const issue = { ...(await issueAttributes(ctx, project, row)), labels }
    return { type: 'Issue', id: row.id, path: `issues/${row.iid}`, block: { issue } }
  }
  if (snippet_id !== null) {
    const row = await asRecorded(ctx.shown?.snippet, 'description', () => findSnippetRow(ctx.db, snippet_id))
    if (!row) return undefined
    const snippet = { ...row, content: await firstText(ctx, row.id), type: 'ProjectSnippet' }
    return { type: 'Snippet', id: row.id, path: `snippets/${row.id}`, block: { snippet } }
  }
  if (merge_request_id === null) return undefined
  const find = () => findMergeRequestRow(ctx.db, merge_request_id)
  const row = await asRecorded(ctx.shown?.merge_request, 'description', find)
  if (!row) return undefined
  const merge_request = await mergeRequestAttributes(ctx, project, row)
  return { type: 'MergeRequest', id: row.id, path: `merge_requests/${row.iid}`, block: { merge_request } }
}

export const notePayload: Builder = async (ctx, { event, trigger }) => {
  const note = await asRecorded(ctx.shown?.note, 'body', () => findNoteRow(ctx.db, idIn(event.payload, 'note_id')))
  const project = await PayloadProject.load(ctx, note?.project_id ?? null)
  const about = note && project && (await aboutOf(ctx, project, note))
  if (!note || !project || !about) return undefined
  const text = project.withAbsoluteImages(note.body)
  return {
    object_kind: 'note',
    event_type: trigger === 'confidential_note_events' ? 'confidential_note' : 'note',
    user: await userOf(ctx, note.author_id),
    project_id: note.project_id,
    project: project.block,
    object_attributes: {
      attachment: null,
      author_id: note.author_id,
      change_position: null,
      commit_id: note.commit_oid,
      created_at: note.created_at,
      discussion_id: note.discussion_id,
      id: note.id,
      line_code: await lineCodeOf(ctx, project.repository, note),
      note: text,
      noteable_id: about.id,
      noteable_type: about.type,
      original_position: note.position,
      position: note.position,
      project_id: note.project_id,
      resolved_at: note.resolved_at,
      resolved_by_id: note.resolved_by_id,
      resolved_by_push: null,
      st_diff: null,
      system: note.system,
      type: noteTypeOf(note),
      updated_at: note.updated_at,
      updated_by_id: null,
      description: text,
      url: `${project.webUrl}/-/${about.path}#note_${note.id}`,
    },
    repository: project.repositoryBlock,
    ...about.block,
  }
}
