import { Counter, collectDefaultMetrics, Histogram, register } from 'prom-client'

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

/** Looking a series up by its labels costs as much as adding to it. */
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

/** The figures of this process, for Prometheus. */
export const ownMetrics = (): Promise<string> => register.metrics()
export const metricsContentType: string = register.contentType
