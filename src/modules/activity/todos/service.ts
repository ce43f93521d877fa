import type { Ctx } from '../../../api/ctx.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import {
  finishAllTodos,
  finishTodo,
  insertTodos,
  keepNoteable,
  type Noteable,
  type TodoType,
} from '../../discussion/index.ts'
import { findEpicRecords, findIssueRecords } from '../../planning/index.ts'
import { findRecords } from '../../review/index.ts'
import { commitTargets } from './commits.ts'
import type { TodoShown, TodoTarget } from './entity.ts'
import { findTodo, type TodoFilters, type TodoRow, todoRow, todosOf } from './queries.ts'

const idsOf = (todos: readonly TodoRow[], type: TodoType): number[] => [
  ...new Set(todos.filter(({ noteable_type }) => noteable_type === type).map(({ noteable_id }) => noteable_id)),
]

/** Todos with their targets. Skips targets that were just deleted. One statement for each kind of target. */
async function withTargets(ctx: Ctx, todos: readonly TodoRow[]): Promise<TodoShown[]> {
  const [issueIds, mergeRequestIds, epicIds, commitIds] = [
    idsOf(todos, 'Issue'),
    idsOf(todos, 'MergeRequest'),
    idsOf(todos, 'Epic'),
    idsOf(todos, 'Commit'),
  ]
  const [issues, mergeRequests, epics, commits] = await Promise.all([
    issueIds.length > 0 ? findIssueRecords(ctx.db, ctx.actor, issueIds) : [],
    mergeRequestIds.length > 0 ? findRecords(ctx.db, ctx.actor!, mergeRequestIds) : [],
    epicIds.length > 0 ? findEpicRecords(ctx.db, ctx.actor, epicIds) : [],
    commitIds.length > 0 ? commitTargets(ctx, commitIds) : [],
  ])
  const targets = new Map<string, TodoTarget>([
    ...issues.map((row) => [`Issue ${row.id}`, { type: 'Issue', row }] as const),
    ...mergeRequests.map((row) => [`MergeRequest ${row.id}`, { type: 'MergeRequest', row }] as const),
    ...epics.map((row) => [`Epic ${row.id}`, { type: 'Epic', row }] as const),
    ...commits.map((row) => [`Commit ${row.id}`, { type: 'Commit', row }] as const),
  ])
  return todos.flatMap((todo) => {
    const target = targets.get(`${todo.noteable_type} ${todo.noteable_id}`)
    return target ? [{ todo, target }] : []
  })
}

export async function todosPage(ctx: Ctx, filters: TodoFilters, page: Page): Promise<Paged<TodoShown>> {
  const { rows, ...paged } = await fetchPage(ctx.db, todoRow, todosOf(ctx.actor!, filters), page)
  return { rows: await withTargets(ctx, rows), ...paged }
}

async function getTodo(ctx: Ctx, id: number): Promise<TodoShown> {
  const found = await findTodo(ctx.db, ctx.actor!, id)
  const [todo] = found ? await withTargets(ctx, [found]) : []
  if (!todo) throw rowNotFound()
  return todo
}

/** Adds a noteable to the caller's todos; undefined if it has a pending todo. Throws `not_found` if it was deleted meanwhile. */
export async function markTodo(ctx: Ctx, noteable: Noteable): Promise<TodoShown | undefined> {
  const userId = ctx.actor!.id
  const todo = { userId, authorId: userId, action: 'marked' } as const
  const [made] = await ctx.transaction(async (tx) => {
    if (!(await keepNoteable(tx, noteable))) throw rowNotFound()
    return insertTodos(tx, noteable, [todo])
  })
  return made && getTodo(ctx, made.id)
}

/** Marks a todo of the caller as done; it may be done already. */
export async function finishOne(ctx: Ctx, id: number): Promise<TodoShown> {
  await getTodo(ctx, id)
  await ctx.transaction((tx) => finishTodo(tx, id))
  return getTodo(ctx, id)
}

export async function finishEverything(ctx: Ctx): Promise<void> {
  await ctx.transaction((tx) => finishAllTodos(tx, ctx.actor!.id))
}
