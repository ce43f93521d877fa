import type { Ctx } from '../../../api/ctx.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { finishAllTodos, finishTodo, insertTodos } from '../../discussion/index.ts'
import { asNoteable, findRecords, type MergeRequestSubject } from '../../review/index.ts'
import type { TodoShown } from './entity.ts'
import { findTodo, type TodoFilters, type TodoRow, todoRow, todosOf } from './queries.ts'

/** Todos with their targets. Skips targets that were just deleted. One statement. */
async function withTargets(ctx: Ctx, todos: readonly TodoRow[]): Promise<TodoShown[]> {
  if (todos.length === 0) return []
  const rows = await findRecords(ctx.db, ctx.actor!, [
    ...new Set(todos.map(({ merge_request_id }) => merge_request_id)),
  ])
  const targets = new Map(rows.map((row) => [row.id, row]))
  return todos.flatMap((todo) => {
    const target = targets.get(todo.merge_request_id)
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

/** Adds a merge request to the caller's todos; undefined if it has a pending todo. */
export async function markTodo(ctx: Ctx, mergeRequest: MergeRequestSubject): Promise<TodoShown | undefined> {
  const userId = ctx.actor!.id
  const todo = { userId, authorId: userId, action: 'marked' } as const
  const [made] = await ctx.transaction((tx) => insertTodos(tx, asNoteable(mergeRequest), [todo]))
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
