import type { Against } from './against.ts'
import type { CloneTimes } from './clone.ts'
import { median, medianInterval, percentileOf } from './figures.ts'
import type { ManyRefs } from './many-refs.ts'
import { type Memory, totalOf } from './memory.ts'
import type { OneByOne } from './one-by-one.ts'
import type { Reference } from './reference.ts'
import type { Latency, SshTimes } from './ssh.ts'
import type { StartTimes } from './start-times.ts'
import { type Cost, ownPacks, type Storm } from './storm.ts'
import type { Throughput } from './throughput.ts'
import type { Rates, VariedFigures } from './varied/varied.ts'

/* Lines of Markdown tables, so that the output can be copied into docs/measurements.md. */

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

export const againstHead = [
  row('Call', 'Before /s', 'Now /s', 'Ratio', '95 %', 'CPU before, µs', 'CPU now, µs', 'Ratio', '95 %', 'Errors'),
  '|---|---|---|---|---|---|---|---|---|---|',
]

export const againstRow = ({ name, ours, theirs, rates, cpu }: Against): string => {
  const ratio = (rounds: readonly number[]) => {
    const [from, to] = medianInterval(rounds)
    return [median(rounds).toFixed(3), `${from.toFixed(2)}–${to.toFixed(2)}`]
  }
  return row(
    name,
    Math.round(theirs.perSecond),
    Math.round(ours.perSecond),
    ...ratio(rates),
    Math.round(theirs.cpuMicroseconds),
    Math.round(ours.cpuMicroseconds),
    ...ratio(cpu),
    theirs.errors + ours.errors === 0 ? '0' : `${errorsOf(theirs)}, ${errorsOf(ours)}`,
  )
}

export const oneByOneLines = (all: readonly OneByOne[]): string[] => [
  row('Asked, one after the other', 'Bytes', 'the first time: p50 ms', 'p90 ms', 'again: p50 ms', 'Target', 'Reached'),
  '|---|---|---|---|---|---|---|',
  ...all.map(({ name, bytes, first, again, targetMs, warm }) =>
    row(
      name,
      bytes,
      ms(median(first)),
      ms(percentileOf(first, 0.9)),
      again ? ms(median(again)) : '',
      targetMs === undefined ? '' : `< ${targetMs}${warm ? ', again' : ''}`,
      verdict(targetMs === undefined ? undefined : median((warm && again) || first) < targetMs),
    ),
  ),
]

export const cloneLines = ({ serviceMs, sshMs, daemonMs, rounds }: CloneTimes): string[] => [
  row('Clone of 20,000 commits', `median of ${rounds} rounds in turns`, 'Target', 'Reached'),
  '|---|---|---|---|',
  row('over HTTP', `${ms(serviceMs)} ms`, '', ''),
  row('over SSH', `${ms(sshMs)} ms`, '', ''),
  row('`git daemon`', `${ms(daemonMs)} ms`, '', ''),
  row('HTTP to daemon', (serviceMs / daemonMs).toFixed(2), '≤ 1.15', verdict(serviceMs / daemonMs <= 1.15)),
  row('SSH to HTTP', (sshMs / serviceMs).toFixed(2), '≤ 1.25', verdict(sshMs / serviceMs <= 1.25)),
]

/** Whether stalled connections delay others by more than a fifth, and more than the noise of a quiet machine. */
const heldBack = (alone: Latency, beside: Latency): boolean => beside.p50 > Math.max(alone.p50 * 1.2, alone.p50 + 1)

export const stormHead = [
  row(
    'Clones at once',
    'MB',
    'One',
    'N equal',
    'Times one: time, CPU',
    `${ownPacks} with own packs`,
    'Times one: time, CPU',
  ),
  '|---|---|---|---|---|---|---|',
]

export const stormRow = ({ kind, clones, megabytes, one, equal, different }: Storm): string => {
  const cost = (each: Cost) => `${ms(each.ms)} ms, ${each.cpuSeconds.toFixed(2)} s`
  const times = (each: Cost) => `${(each.ms / one.ms).toFixed(1)}, ${(each.cpuSeconds / one.cpuSeconds).toFixed(1)}`
  return row(
    `${clones}, ${kind}`,
    megabytes.toFixed(1),
    cost(one),
    cost(equal),
    times(equal),
    cost(different),
    times(different),
  )
}

export const manyRefsLines = ({ refs, rounds, plain, plainHttp, http, ssh }: ManyRefs): string[] => {
  const ratio = (ours: number, theirs: number) => `${(ours / theirs).toFixed(2)}`
  return [
    row(`Push of ${refs} refs`, `medians of ${rounds} in turns`, 'Target', 'Reached'),
    '|---|---|---|---|',
    row('plain git, to a folder, same durability', `${ms(plain)} ms`, '', ''),
    row('plain git, over its HTTP server, same durability', `${ms(plainHttp)} ms`, '', ''),
    row('over SSH', `${ms(ssh)} ms, ${ratio(ssh, plain)} of plain`, '< 1.5', verdict(ssh / plain < 1.5)),
    row(
      'over HTTP',
      `${ms(http)} ms, ${ratio(http, plainHttp)} of plain over HTTP`,
      '< 1.5',
      verdict(http / plainHttp < 1.5),
    ),
  ]
}

export const sshLines = ({ push, refusals, stalled }: SshTimes): string[] => {
  const pair = ({ p50, p90 }: Latency) => `${ms(p50)} (p90 ${ms(p90)}) ms`
  const ratio = push.sshMs / push.httpMs
  return [
    row('Git over SSH', 'medians', 'Target', 'Reached'),
    '|---|---|---|---|',
    row(`push of ${push.megabytes} MB over HTTP, ${push.rounds} rounds in turns`, `${ms(push.httpMs)} ms`, '', ''),
    row('… over SSH', `${ms(push.sshMs)} ms`, '', ''),
    row('SSH to HTTP', ratio.toFixed(2), '≤ 1.25', verdict(ratio <= 1.25)),
    row(
      `connect and refuse, ${refusals.times} times in turns`,
      pair(refusals.ours),
      '< 30 ms',
      verdict(refusals.ours.p50 < 30),
    ),
    row('… the first of all', `${ms(refusals.firstMs)} ms`, '', ''),
    row('… with OpenSSH', pair(refusals.openSsh), '< 30 ms', verdict(refusals.openSsh.p50 < 30)),
    row('OpenSSH to a port without a server', pair(refusals.openSshAlone), '', ''),
    ...stalled.flatMap(({ kind, stalled: count, stayed, signIn, call }) => [
      row(`sign in and be welcomed, alone`, pair(signIn.alone), '', ''),
      row(
        `… beside ${count} ${kind} (${stayed} stayed)`,
        pair(signIn.beside),
        'not slower',
        verdict(!heldBack(signIn.alone, signIn.beside)),
      ),
      row('`GET /user`, alone', pair(call.alone), '', ''),
      row('… beside them', pair(call.beside), 'not slower', verdict(!heldBack(call.alone, call.beside))),
    ]),
  ]
}

export const startLines = ({ firstMs, warmMs, idle }: StartTimes): string[] => [
  row('Start and memory, two workers', '', 'Target', 'Reached'),
  '|---|---|---|---|',
  row('first start', `${ms(firstMs)} ms`, '< 5000', verdict(firstMs < 5000)),
  row('warm start', `${ms(warmMs)} ms`, '< 1500', verdict(warmMs < 1500)),
  row('PSS of all processes, idle', `${megabytes(totalOf(idle))} MB`, '< 400', verdict(totalOf(idle) < 400e6)),
  '',
  ...memoryLines(idle),
]

const megabytes = (bytes: number): number => Math.round(bytes / 1e6)

/** Memory by kind of process, in MB. */
export const memoryLines = (memory: readonly Memory[]): string[] => [
  row('Processes', 'Number', 'PSS, MB', 'own', 'shared', 'files'),
  '|---|---|---|---|---|---|',
  row(
    'all',
    memory.reduce((sum, { processes }) => sum + processes, 0),
    megabytes(totalOf(memory)),
    '',
    '',
    '',
  ),
  ...memory.map(({ kind, processes, pss, anonymous, shared, file }) =>
    row(kind, processes, ...[pss, anonymous, shared, file].map(megabytes)),
  ),
]

export const variedHead = [
  row('Call, varied', 'Requests', 'p50 ms', 'p90 ms', 'p99 ms', 'Failures', 'The first of them'),
  '|---|---|---|---|---|---|---|',
]

export const variedRow = ({ name, requests, p50, p90, p99, failures, firstFailure }: VariedFigures): string =>
  row(
    name,
    requests,
    ms(p50),
    ms(p90),
    ms(p99),
    Object.entries(failures)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ') || 0,
    firstFailure ?? '',
  )

export const variedSummary = (
  { reads, writes }: Rates,
  { reached, unanswered, figures }: { reached: number; unanswered: number; figures: readonly VariedFigures[] },
): string => {
  const { p50, p90, p99, failures } = figures[0]!
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  return `${reads} reads and ${writes} writes a second: ${reached.toFixed(0)}/s reached, p50 ${ms(p50)}, p90 ${ms(p90)}, p99 ${ms(p99)} ms, ${failed} failures, ${unanswered} unanswered`
}
