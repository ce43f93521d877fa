import { invalid } from '../../kernel/failure.ts'
import type { Status } from '../pipelines/status.ts'

/** What may be reported. */
export const states = ['pending', 'running', 'success', 'failed', 'canceled'] as const
export type State = (typeof states)[number]

const waiting: readonly Status[] = ['created', 'preparing', 'skipped', 'manual', 'scheduled']
const alive: readonly Status[] = ['created', 'preparing', 'pending', 'running']

/** How each state is reached: the event as messages call it, and from where. */
const events: Record<State, { readonly name: string; readonly from: readonly Status[] }> = {
  pending: { name: 'enqueue', from: waiting },
  running: { name: 'run', from: [...waiting, 'pending'] },
  success: { name: 'success', from: alive },
  failed: { name: 'drop', from: [...alive, 'scheduled'] },
  canceled: { name: 'cancel', from: [...alive, 'manual', 'scheduled'] },
}

/** Fails when a status cannot become that. Source: supplement to the API documents, "Commit status". */
export function requireTransition(from: Status, to: State): void {
  const { name, from: allowed } = events[to]
  if (!allowed.includes(from))
    throw invalid(
      `Cannot transition status via :${name} from :${from} (Reason(s): Status cannot transition via "${name}")`,
    )
}
