import { parseQuickActions, type QuickAction } from '../../discussion/index.ts'

/**
 * What a request says about a noteable with its description lacking quick actions, and these. One that hides it takes effect with the
 * description: applied afterwards, others could have read it before.
 */
export function withoutQuickActions<
  T extends { readonly description?: string | null; readonly confidential?: boolean | null },
>(input: T, known: ReadonlySet<string>): { readonly input: T; readonly actions: readonly QuickAction[] } {
  if (!input.description) return { input, actions: [] }
  const { text, actions } = parseQuickActions(input.description, known)
  const isHidden = actions.some(({ name }) => name === 'confidential')
  return { input: { ...input, description: text, ...(isHidden && { confidential: true }) }, actions }
}
