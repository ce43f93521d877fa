import { parseQuickActions, type QuickAction } from '../../discussion/index.ts'

/** What a request says about a noteable with its description lacking quick actions, and these. */
export function withoutQuickActions<T extends { readonly description?: string | null }>(
  input: T,
  known: ReadonlySet<string>,
): { readonly input: T; readonly actions: readonly QuickAction[] } {
  if (!input.description) return { input, actions: [] }
  const { text, actions } = parseQuickActions(input.description, known)
  return { input: { ...input, description: text }, actions }
}
