import type { CloneTimes } from './clone.ts'
import type { Reference } from './reference.ts'
import type { StartTimes } from './start-times.ts'
import type { Throughput } from './throughput.ts'

/*
 * Lines of Markdown tables, so that what a run prints can go into docs/performance.md as it is.
 */

const verdict = (reached: boolean | undefined): string => (reached === undefined ? '' : reached ? 'yes' : '**no**')
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0)
const row = (...cells: (string | number)[]): string => `| ${cells.join(' | ')} |`
const errorsOf = ({ errors, unexpected }: { errors: number; unexpected: Record<string, number> }): string =>
  errors === 0 ? '0' : `${errors} (${Object.entries(unexpected).map(([status, count]) => `${count} × ${status}`)})`

export const throughputHead = [
  row(
    'Call',
    'Bytes',
    'Requests/s',
    'p50 ms',
    'p90 ms',
    'p99 ms',
    'Errors',
    'Floor /s',
    'Of the floor',
    'Target',
    'Reached',
  ),
  '|---|---|---|---|---|---|---|---|---|---|---|',
]

export const throughputRow = ({ endpoint, service, floor, ratio }: Throughput): string =>
  row(
    endpoint.name,
    service.meanBytes,
    Math.round(service.perSecond),
    ms(service.p50),
    ms(service.p90),
    ms(service.p99),
    errorsOf(service),
    Math.round(floor.perSecond),
    ratio.toFixed(2),
    endpoint.target ?? '–',
    verdict(endpoint.target === undefined ? undefined : ratio >= endpoint.target),
  )

export const referenceHead = [
  row('Load', 'Asked /s', 'Reached /s', 'p50 ms', 'p90 ms', 'p99 ms', 'Errors', 'Target p90', 'Reached'),
  '|---|---|---|---|---|---|---|---|---|',
]

export const referenceRow = ({ name, perSecond, figures, targetP90 }: Reference): string =>
  row(
    name,
    perSecond,
    figures.perSecond.toFixed(1),
    ms(figures.p50),
    ms(figures.p90),
    ms(figures.p99),
    errorsOf(figures),
    targetP90 ?? '–',
    verdict(targetP90 === undefined ? undefined : figures.p90 <= targetP90 && figures.errors === 0),
  )

export const cloneLines = ({ serviceMs, sshMs, refusedMs, daemonMs, rounds }: CloneTimes): string[] => [
  row('Clone of 20,000 commits', `median of ${rounds} rounds in turns`, 'Target', 'Reached'),
  '|---|---|---|---|',
  row('over HTTP', `${ms(serviceMs)} ms`, '', ''),
  row('over SSH', `${ms(sshMs)} ms`, '', ''),
  row('`git daemon`', `${ms(daemonMs)} ms`, '', ''),
  row('HTTP to daemon', (serviceMs / daemonMs).toFixed(2), '≤ 1.15', verdict(serviceMs / daemonMs <= 1.15)),
  row('SSH to HTTP', (sshMs / serviceMs).toFixed(2), '≤ 1.25', verdict(sshMs / serviceMs <= 1.25)),
  row('SSH to a refused key, the client included', `${ms(refusedMs)} ms`, '< 30', verdict(refusedMs < 30)),
]

export const startLines = ({ firstMs, warmMs, idleBytes }: StartTimes): string[] => [
  row('Start and memory, two workers', '', 'Target', 'Reached'),
  '|---|---|---|---|',
  row('first start', `${ms(firstMs)} ms`, '< 5000', verdict(firstMs < 5000)),
  row('warm start', `${ms(warmMs)} ms`, '< 1500', verdict(warmMs < 1500)),
  row('PSS of all processes, idle', `${Math.round(idleBytes / 1e6)} MB`, '< 400', verdict(idleBytes < 400e6)),
]
