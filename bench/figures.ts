import type { Measured } from './load.ts'

export type Figures = {
  perSecond: number
  p50: number
  p90: number
  p99: number
  errors: number
  requests: number
  meanBytes: number
  unexpected: Record<string, number>
}

/** The value below which `share` of the sorted values lie. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** Like `percentile`, for unsorted values. */
export const percentileOf = (values: readonly number[], share: number): number =>
  percentile(
    [...values].sort((a, b) => a - b),
    share,
  )

export const median = (values: readonly number[]): number => percentileOf(values, 0.5)

/** Between which values the median lies with a probability of about 95 %, by the order of independent values alone. */
export function medianInterval(values: readonly number[]): [number, number] {
  const sorted = [...values].sort((a, b) => a - b)
  const from = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)))
  return [sorted[from]!, sorted[sorted.length - 1 - from]!]
}

/** The combined figures of several rounds. */
export function figuresOf(rounds: readonly Measured[]): Figures {
  const sum = (of: (round: Measured) => number) => rounds.reduce((total, round) => total + of(round), 0)
  const latencies = rounds.flatMap((round) => round.latencies).sort((a, b) => a - b)
  const unexpected: Record<string, number> = {}
  for (const round of rounds)
    for (const [status, count] of Object.entries(round.unexpected))
      unexpected[status] = (unexpected[status] ?? 0) + count
  return {
    perSecond: sum(({ requests }) => requests) / sum(({ seconds }) => seconds),
    p50: percentile(latencies, 0.5),
    p90: percentile(latencies, 0.9),
    p99: percentile(latencies, 0.99),
    errors: sum(({ errors }) => errors),
    requests: sum(({ requests }) => requests),
    meanBytes: Math.round(sum(({ meanBytes, requests }) => meanBytes * requests) / sum(({ requests }) => requests)),
    unexpected,
  }
}
