import { percentile } from '../figures.ts'
import { LoadProcess } from '../load-process.ts'
import type { Target } from '../wire.ts'
import { type KindMeasured, kinds, type VariedLoad, type VariedMeasured } from './load.ts'
import { reads } from './reads.ts'
import type { Sample } from './sample.ts'

/** Generates the varied load. */
class VariedClient extends LoadProcess<VariedLoad, VariedMeasured> {
  constructor() {
    super(new URL('load.ts', import.meta.url).href)
  }
}

export type Rates = Readonly<{ reads: number; writes: number }>

/** Figures of one kind, or of all of them. */
export type VariedFigures = {
  name: string
  requests: number
  p50: number
  p90: number
  p99: number
  failures: Record<string, number>
  firstFailure: string | undefined
}

const figuresOf = (name: string, measured: readonly KindMeasured[]): VariedFigures => {
  const sorted = measured.flatMap(({ latencies }) => latencies).sort((a, b) => a - b)
  const failures: Record<string, number> = {}
  for (const each of measured)
    for (const [status, count] of Object.entries(each.failures)) failures[status] = (failures[status] ?? 0) + count
  return {
    name,
    requests: measured.reduce((sum, { answered }) => sum + answered, 0),
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p99: percentile(sorted, 0.99),
    failures,
    firstFailure: measured.find(({ firstFailure }) => firstFailure !== undefined)?.firstFailure,
  }
}

const isWrite = (name: string): boolean => !reads.some((kind) => kind.name === name)

/** Of a load at these rates: reads, writes and both, then each kind, the slowest first. */
export async function variedAt(
  target: Target,
  sample: Sample,
  rates: Rates,
  seconds: number,
): Promise<{ reached: number; unanswered: number; figures: VariedFigures[] }> {
  await using client = new VariedClient()
  const common = { target, sample, load: 'open', readsPerSecond: rates.reads, writesPerSecond: rates.writes } as const
  // Warms the service up with other requests.
  await client.run({ ...common, seed: 7, seconds: Math.min(10, seconds) })
  const measured = await client.run({ ...common, seed: 11, seconds })
  const byKind = Object.entries(measured.kinds)
  const answered = byKind.reduce((sum, [, { answered }]) => sum + answered, 0)
  const of = (name: string, chosen: (name: string) => boolean) =>
    figuresOf(
      name,
      byKind.filter(([kind]) => chosen(kind)).map(([, each]) => each),
    )
  return {
    reached: answered / measured.seconds,
    unanswered: measured.unanswered,
    figures: [
      of('all', () => true),
      of('reads', (kind) => !isWrite(kind)),
      of('writes', isWrite),
      ...byKind.map(([name, each]) => figuresOf(name, [each])).sort((a, b) => b.p90 - a.p90),
    ],
  }
}

/** Each kind alone, two requests at a time; the slowest first. */
export async function variedAlone(
  target: Target,
  sample: Sample,
  chosen: (name: string) => boolean,
  seconds: number,
): Promise<VariedFigures[]> {
  await using client = new VariedClient()
  const all: VariedFigures[] = []
  for (const kind of [...kinds.keys()].filter(chosen)) {
    await client.run({ target, sample, seed: 7, load: 'alone', kind, seconds: seconds / 4 })
    const measured = await client.run({ target, sample, seed: 11, load: 'alone', kind, seconds })
    all.push(figuresOf(kind, Object.values(measured.kinds)))
  }
  return all.sort((a, b) => b.p90 - a.p90)
}
