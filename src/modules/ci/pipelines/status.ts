/** Possible statuses of a status or pipeline. Reports use five of them; imports may use any. */
export const statuses = [
  'created',
  'preparing',
  'pending',
  'running',
  'success',
  'failed',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const
export type Status = (typeof statuses)[number]

/** No change is expected any more. */
export const isFinished = (status: Status): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled'

/** The pipeline goes on by itself. */
const active: ReadonlySet<Status> = new Set(['created', 'preparing', 'pending', 'running', 'scheduled'])
export const isActive = (status: Status): boolean => active.has(status)

/** Statuses that satisfy a project where the pipeline must succeed. */
export const isPassing = (status: Status): boolean => status === 'success' || status === 'skipped'

/** Number of a pipeline's latest statuses with this status. */
export type Count = { readonly status: Status; readonly allow_failure: boolean; readonly count: number }

/**
 * Status of a pipeline from its latest statuses: the first condition that holds. Failed statuses that may fail count as
 * warnings only. Source: supplement to the API documents, "Pipeline status".
 */
export function pipelineStatus(counts: readonly Count[]): Status {
  const isWarning = ({ status, allow_failure }: Count) =>
    allow_failure && (status === 'failed' || status === 'canceled')
  const warnings = counts.some(isWarning)
  const counted = counts.filter((each) => !isWarning(each))
  const all = (...among: readonly Status[]) => counted.every(({ status }) => among.includes(status))
  const any = (...among: readonly Status[]) => counted.some(({ status }) => among.includes(status))
  if (all('skipped')) return warnings ? 'success' : 'skipped'
  for (const each of ['success', 'created', 'preparing'] as const) if (all(each)) return each
  if (all('success', 'skipped')) return 'success'
  if (all('success', 'skipped', 'canceled')) return 'canceled'
  if (all('created', 'skipped', 'pending')) return 'pending'
  if (any('running', 'pending')) return 'running'
  for (const each of ['manual', 'scheduled', 'preparing'] as const) if (any(each)) return each
  return any('created') ? 'running' : 'failed'
}
