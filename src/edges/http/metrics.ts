import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import { ageOf } from '../../kernel/clock.ts'
import type { Load } from '../../kernel/shares.ts'

const answers = new Counter({
  name: 'stithy_http_requests_total',
  help: 'Requests answered, by method, route (a pattern of the URL) and status',
  labelNames: ['method', 'route', 'status'],
})

const durations = new Histogram({
  name: 'stithy_http_request_duration_seconds',
  help: 'Time to answer, by method and route',
  labelNames: ['method', 'route'],
  // Few, because each is a series for every route.
  buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
})

collectDefaultMetrics({ prefix: 'stithy_' })

type Series = { count(): void; time(seconds: number): void }

/** Cached, because looking up a series by its labels costs as much as updating it. */
const series = new Map<string, Series>()

function seriesOf(method: string, route: string, status: number): Series {
  const key = `${method} ${route} ${status}`
  let known = series.get(key)
  if (!known) {
    const [counter, histogram] = [answers.labels(method, route, String(status)), durations.labels(method, route)]
    known = { count: () => counter.inc(), time: (seconds) => histogram.observe(seconds) }
    series.set(key, known)
  }
  return known
}

export function observeAnswer(method: string, route: string, status: number, seconds: number): void {
  const { count, time } = seriesOf(method, route, status)
  count()
  time(seconds)
}

const transfers = new Histogram({
  name: 'stithy_git_operation_duration_seconds',
  help: 'Time of git operations, by operation, transport and result',
  labelNames: ['operation', 'transport', 'result'],
  buckets: [0.025, 0.1, 0.5, 2.5, 10, 60, 600],
})

type GitOperation = 'git-upload-pack' | 'git-receive-pack' | 'git-upload-archive' | 'other'

/** Counts a fetch, a push, or another command of a git client. */
export function observeGit(
  operation: GitOperation,
  transport: 'http' | 'ssh',
  isSuccess: boolean,
  seconds: number,
): void {
  transfers.labels(operation, transport, isSuccess ? 'success' : 'failure').observe(seconds)
}

const sshConnections = new Gauge({ name: 'stithy_ssh_connections', help: 'Open SSH connections', aggregator: 'sum' })

/** Counts an SSH connection that opens (1) or closes (-1). */
export const observeSshConnection = (change: 1 | -1): void => sshConnections.inc(change)

const build = new Gauge({
  name: 'stithy_build_info',
  help: 'Always 1; the labels are the versions of Stithy and Node',
  labelNames: ['version', 'node'],
  aggregator: 'max',
})

/** Sets the version in the metrics. */
export const observeBuild = (version: string): void => build.labels(version, process.version).set(1)

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

/** Sets the folder whose disk is measured. */
export function measureDisk(folder: string): void {
  measuredFolder = folder
}
let measuredFolder: string | undefined

/** All workers measure the same disk. */
function diskGauge(name: string, help: string, bytesOf: (disk: StatsFs) => number): void {
  new Gauge({
    name,
    help,
    aggregator: 'max',
    async collect() {
      const disk = measuredFolder === undefined ? undefined : await statfs(measuredFolder).catch(() => undefined)
      if (disk) this.set(bytesOf(disk))
      // It would be 0 after `reset`, as on a full disk.
      else this.remove()
    },
  })
}
diskGauge(
  'stithy_disk_free_bytes',
  'Bytes that the service can still write to the disk of the data folder',
  (disk) => disk.bavail * disk.bsize,
)
diskGauge('stithy_disk_size_bytes', 'Size of the disk of the data folder', (disk) => disk.blocks * disk.bsize)

/** The last backup: when the last one that succeeded ended, its seconds and bytes, and how the last one ended. */
export type BackupFigures = {
  readonly result: string
  readonly success?: {
    /** ISO 8601. */
    readonly ended_at: string
    readonly seconds: number
    readonly bytes: number
    readonly stored_bytes: number
  }
}

/** Sets what reads the last backup. */
export function measureBackups(read: () => Promise<BackupFigures | undefined>): void {
  readBackup = read
}
let readBackup: () => Promise<BackupFigures | undefined> = async () => undefined

/** All workers read the same file. */
function backupGauge(
  name: string,
  help: string,
  figure: (success: NonNullable<BackupFigures['success']>) => number,
): void {
  new Gauge({
    name: `stithy_backup_last_success_${name}`,
    help,
    aggregator: 'max',
    async collect() {
      const success = (await readBackup())?.success
      if (success) this.set(figure(success))
      else this.remove()
    },
  })
}
backupGauge('timestamp_seconds', 'When the last successful backup ended', ({ ended_at: at }) => Date.parse(at) / 1000)
backupGauge(
  'age_seconds',
  'Time since the last successful backup ended',
  ({ ended_at: at }) => ageOf(Date.parse(at)) / 1000,
)
backupGauge('duration_seconds', 'How long the last successful backup took', ({ seconds }) => seconds)
backupGauge('size_bytes', 'Bytes of everything in the last successful backup', ({ bytes }) => bytes)
backupGauge(
  'stored_bytes',
  'Bytes that the last successful backup added to the place',
  ({ stored_bytes: bytes }) => bytes,
)
new Gauge({
  name: 'stithy_backup_last_result',
  help: '1 for how the last backup ended: succeeded, with_problems or failed',
  labelNames: ['result'],
  aggregator: 'max',
  async collect() {
    this.reset()
    const last = await readBackup()
    if (last) this.labels(last.result).set(1)
  },
})

gaugesOf('git', 'stithy_git_lane', 'lane', 'git processes', 'max')
gaugesOf('database', 'stithy_database_pool', 'pool', 'uses of connections', 'sum')

/** The metrics of this process, for Prometheus. */
export const ownMetrics = (): Promise<string> => register.metrics()
export const metricsContentType: string = register.contentType
