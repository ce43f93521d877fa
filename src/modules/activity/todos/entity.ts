import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity, presentAll } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { todoActions, todoTypes } from '../../discussion/index.ts'
import { namespacePicture, namespaceUrl } from '../../namespaces/index.ts'
import { Epic, type EpicRecordRow, Issue, type IssueRecordRow } from '../../planning/index.ts'
import { projectReferenceFields } from '../../projects/index.ts'
import { Commit, type CommitRow } from '../../repository/index.ts'
import { MergeRequest, type MergeRequestRecordRow } from '../../review/index.ts'
import type { TodoRow } from './queries.ts'

export type TodoTarget =
  | { readonly type: 'Issue'; readonly row: IssueRecordRow }
  | { readonly type: 'MergeRequest'; readonly row: MergeRequestRecordRow }
  | { readonly type: 'Epic'; readonly row: EpicRecordRow }
  | { readonly type: 'Commit'; readonly row: CommitRow & { readonly id: number } }

/** A todo with its target. */
export type TodoShown = { readonly todo: TodoRow; readonly target: TodoTarget }

const groupOf = ({ id, name, path, full_path, parent_id, avatar }: NonNullable<TodoRow['group']>, ctx: Ctx) => ({
  id,
  name,
  path,
  kind: 'group',
  full_path,
  parent_id,
  avatar_url: namespacePicture({ id, avatar, owner: null }, ctx),
  web_url: namespaceUrl(ctx.site, 'group', full_path),
})

const within = { of: 'all' } as const

export const Todo = entity({
  name: 'Todo',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the todo' }),
    project: Type.Optional(
      Type.Object(
        {
          ...projectReferenceFields,
        },
        { title: 'ProjectReference', description: 'Project of the target; absent for epics' },
      ),
    ),
    group: Type.Optional(
      Type.Object(
        {
          id: Type.Integer({ description: 'ID of the group' }),
          name: Type.String({ description: 'Name of the group' }),
          path: Type.String({ description: 'Last part of its path' }),
          kind: Type.String({ enum: ['group'], description: 'Kind of the namespace' }),
          full_path: Type.String({ description: 'Path with the groups above' }),
          parent_id: nullable(Type.Integer(), { description: 'ID of the group above it; null if there is none' }),
          avatar_url: nullable(Type.String(), { description: 'URL of its avatar; null if it has none' }),
          web_url: Type.String({ description: 'URL of its page' }),
        },
        { title: 'GroupOfTodo', description: 'Group of the target; only for epics' },
      ),
    ),
    author: described(UserReferenceSchema, 'User whose action caused the todo'),
    action_name: Type.String({
      description: 'Reason of the todo',
      enum: [...todoActions],
    }),
    target_type: Type.String({ description: 'Kind of the target', enum: [...todoTypes] }),
    target: Type.Union([Issue.schema, MergeRequest.schema, Epic.schema, Commit.schema], {
      description: 'What the todo is about',
    }),
    target_url: Type.String({ description: 'URL of the target, or of the note that caused the todo' }),
    body: Type.String({ description: 'Text of the note, or title of the target' }),
    state: Type.String({ description: 'State of the todo', enum: ['pending', 'done'] }),
    created_at: timestamp('Time at which the todo was created'),
    updated_at: timestamp('Time of the last change'),
  }),
  async gather(shown: readonly TodoShown[], ctx) {
    const issues = shown.flatMap(({ target }) => (target.type === 'Issue' ? { issue: target.row, within } : []))
    const mergeRequests = shown.flatMap(({ target }) =>
      target.type === 'MergeRequest' ? { mergeRequest: target.row, within } : [],
    )
    const epics = shown.flatMap(({ target }) => (target.type === 'Epic' ? { epic: target.row, within } : []))
    const commits = shown.flatMap(({ target }) => (target.type === 'Commit' ? target.row : []))
    const commitRecords = await presentAll(Commit, commits, ctx)
    return {
      Commit: new Map(commits.map(({ id }, index) => [id, commitRecords[index]!])),
      Epic: new Map((await presentAll(Epic, epics, ctx)).map((target) => [target.id, target])),
      Issue: new Map((await presentAll(Issue, issues, ctx)).map((target) => [target.id, target])),
      MergeRequest: new Map((await presentAll(MergeRequest, mergeRequests, ctx)).map((target) => [target.id, target])),
    }
  },
  present({ todo, target: { type, row } }: TodoShown, ctx, targets) {
    const target = targets[type].get(row.id)!
    return {
      id: todo.id,
      ...(todo.project && { project: todo.project }),
      ...(todo.group && { group: groupOf(todo.group, ctx) }),
      author: userReference(todo.author, ctx),
      action_name: todo.action as string,
      target_type: type as string,
      target,
      target_url: todo.note ? `${target.web_url}#note_${todo.note.id}` : target.web_url,
      body: todo.note?.body ?? target.title,
      state: todo.state as string,
      created_at: todo.created_at,
      updated_at: todo.updated_at,
    }
  },
})
