import { Type } from 'typebox'
import { entity, presentAll } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { MergeRequest, type MergeRequestRecordRow } from '../../review/index.ts'
import type { TodoRow } from './queries.ts'

/** A todo with what it is about. */
export type TodoShown = { readonly todo: TodoRow; readonly target: MergeRequestRecordRow }

export const Todo = entity({
  name: 'Todo',
  schema: Type.Object({
    id: Type.Integer(),
    project: Type.Object({
      id: Type.Integer(),
      description: nullable(Type.String()),
      name: Type.String(),
      name_with_namespace: Type.String(),
      path: Type.String(),
      path_with_namespace: Type.String(),
      created_at: timestamp(),
    }),
    author: UserReferenceSchema,
    action_name: Type.String({
      enum: [
        'assigned',
        'mentioned',
        'build_failed',
        'marked',
        'approval_required',
        'unmergeable',
        'directly_addressed',
      ],
    }),
    target_type: Type.String({ enum: ['MergeRequest'] }),
    target: MergeRequest.schema,
    target_url: Type.String({ description: 'URL of the target, or of the note that caused the todo' }),
    body: Type.String({ description: 'Text of the note, or title of the target' }),
    state: Type.String({ enum: ['pending', 'done'] }),
    created_at: timestamp(),
    updated_at: timestamp(),
  }),
  async gather(shown: readonly TodoShown[], ctx) {
    const targets = shown.map(({ target }) => ({ mergeRequest: target, within: { of: 'all' } as const }))
    return new Map((await presentAll(MergeRequest, targets, ctx)).map((target) => [target.id, target]))
  },
  present({ todo }: TodoShown, ctx, targets) {
    const target = targets.get(todo.merge_request_id)!
    return {
      id: todo.id,
      project: todo.project,
      author: userReference(todo.author, ctx),
      action_name: todo.action as string,
      target_type: 'MergeRequest',
      target,
      target_url: todo.note ? `${target.web_url}#note_${todo.note.id}` : target.web_url,
      body: todo.note?.body ?? target.title,
      state: todo.state as string,
      created_at: todo.created_at,
      updated_at: todo.updated_at,
    }
  },
})
