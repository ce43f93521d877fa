import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import type { Load } from '../../kernel/shares.ts'

const answers = new Counter({
  name: 'stithy_http_requests_total',
  help: 'Requests answered, by method and status',
  labelNames: ['method', 'status'],
})

const durations = new Histogram({
  name: 'stithy_http_request_duration_seconds',
  help: 'Time to answer, by method',
  labelNames: ['method'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
})

collectDefaultMetrics({ prefix: 'stithy_' })

type Series = { count(): void; time(seconds: number): void }

/** Cached, because looking up a series by its labels costs as much as updating it. */
const series = new Map<string, Series>()

function seriesOf(method: string, status: number): Series {
  const key = `${method} ${status}`
  let known = series.get(key)
  if (!known) {
    const [counter, histogram] = [answers.labels(method, String(status)), durations.labels(method)]
    known = { count: () => counter.inc(), time: (seconds) => histogram.observe(seconds) }
    series.set(key, known)
  }
  return known
}

export function observeAnswer(method: string, status: number, seconds: number): void {
  const { count, time } = seriesOf(method, status)
  count()
  time(seconds)
}

type Loads = Readonly<Record<string, Load>>
type Pools = { git(): Promise<Loads>; database(): Promise<Loads> }

/** One entry per application in this process: one, except in tests. */
const measured: Pools[] = []

/** Adds pools to the metrics, until the returned function is called. */
export function measurePools(pools: Pools): () => void {
  measured.push(pools)
  return () => void measured.splice(measured.indexOf(pools), 1)
}

/**
 * Three gauges for the pools of one kind. `aggregator` combines the values of several processes: git processes are shared by
 * all, connections belong to each.
 */
function gaugesOf(kind: keyof Pools, prefix: string, label: string, noun: string, aggregator: 'max' | 'sum'): void {
  const gauge = (
    name: string,
    help: string,
    figure: (load: Load) => number,
    combined: 'max' | 'sum' = aggregator,
  ): Gauge =>
    new Gauge({
      name: `${prefix}_${name}`,
      help: `${help}, by ${label}`,
      labelNames: [label],
      aggregator: combined,
      async collect() {
        const loads = await measured
          .at(-1)
          ?.[kind]()
          .catch(() => undefined)
        if (!loads) return this.reset()
        for (const [each, load] of Object.entries(loads)) this.labels(each).set(figure(load))
      },
    })
  gauge('running', `${noun} that run`, ({ running }) => running)
  gauge('waiting', `${noun} that wait`, ({ waiting }) => waiting)
  gauge(
    'oldest_wait_seconds',
    `How long the oldest of the ${noun} that wait has waited`,
    ({ oldestWaitMs }) => oldestWaitMs / 1000,
    'max',
  )
}

gaugesOf('git', 'stithy_git_lane', 'lane', 'git processes', 'max')
gaugesOf('database', 'stithy_database_pool', 'pool', 'uses of connections', 'sum')

/** The metrics of this process, for Prometheus. */
export const ownMetrics = (): Promise<string> => register.metrics()
export const metricsContentType: string = register.contentType
