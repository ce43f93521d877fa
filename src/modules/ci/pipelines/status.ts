/** What a status or pipeline may be. Reports come as five of them; imported ones may be any. */
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

/** Nothing more is to come of it. */
export const isFinished = (status: Status): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled'

/** How many of a pipeline's latest statuses are so. */
export type Count = { readonly status: Status; readonly allow_failure: boolean; readonly count: number }

/**
 * What latest statuses add up to: the first that holds of a list of conditions. Those that may fail, and did, count only
 * as warnings. Source: supplement to the API documents, "Pipeline status".
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
