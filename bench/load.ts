import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { requestBytes, type Target, Wire } from './wire.ts'

/** One request, with its body or the file that contains it. */
export type Asked = Readonly<{
  path: string
  headers: Readonly<Record<string, string>>
  method?: string
  body?: string
  bodyFile?: string
  /** The status of a successful response, where it differs from that of the load. */
  expected?: number
}>

/**
 * Requests, sent in turn: as fast as `connections` allow (closed), or `perSecond` regardless of the responses (open), for
 * `seconds`; or each once, as fast as `connections` allow (each).
 */
export type Load = Readonly<{ target: Target; asked: readonly Asked[]; expected: number }> &
  (
    | Readonly<{ kind: 'closed'; connections: number; seconds: number }>
    | Readonly<{ kind: 'open'; perSecond: number; seconds: number }>
    | Readonly<{ kind: 'each'; connections: number }>
  )

export type Measured = {
  requests: number
  seconds: number
  errors: number
  /** Unexpected statuses with their counts. */
  unexpected: Record<string, number>
  /** Mean size of the bodies of expected responses. */
  meanBytes: number
  /** In ms. */
  latencies: number[]
}

/** Maximum connections at a constant rate. */
const maximumWires = 256
/** Maximum wait for the last responses. */
const drainTimeoutMs = 15_000

export async function run(load: Load): Promise<Measured> {
  const requests = load.asked.map((asked) => ({
    bytes: requestBytes(load.target, asked.path, asked.headers, asked.method, bodyOf(asked)),
    expected: asked.expected ?? load.expected,
  }))
  const measured: Measured = { requests: 0, seconds: 0, errors: 0, unexpected: {}, meanBytes: 0, latencies: [] }
  let bytes = 0
  let next = 0
  const ask = async (wire: Wire, since: number): Promise<void> => {
    const request = requests[next++ % requests.length]!
    try {
      const answer = await wire.send(request.bytes)
      measured.latencies.push(performance.now() - since)
      measured.requests++
      bytes += answer.bytes
      if (answer.status !== request.expected) {
        measured.errors++
        measured.unexpected[answer.status] = (measured.unexpected[answer.status] ?? 0) + 1
      }
    } catch {
      measured.errors++
      measured.unexpected['broken'] = (measured.unexpected['broken'] ?? 0) + 1
    }
  }
  const began = performance.now()
  await (load.kind === 'open' ? open(load, ask) : closed(load, ask))
  measured.seconds = (performance.now() - began) / 1000
  measured.meanBytes = Math.round(bytes / Math.max(1, measured.requests))
  return measured
}

type Ask = (wire: Wire, since: number) => Promise<void>

function bodyOf({ body, bodyFile }: Asked): Buffer | undefined {
  if (body !== undefined) return Buffer.from(body)
  return bodyFile === undefined ? undefined : readFileSync(bodyFile)
}

async function closed(load: Load & { kind: 'closed' | 'each' }, ask: Ask): Promise<void> {
  const end = load.kind === 'closed' ? performance.now() + load.seconds * 1000 : Number.POSITIVE_INFINITY
  let left = load.kind === 'each' ? load.asked.length : Number.POSITIVE_INFINITY
  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      const wire = new Wire(load.target)
      while (left-- > 0 && performance.now() < end) await ask(wire, performance.now())
      wire.close()
    }),
  )
}

/** Sends requests at a constant rate; latency counts from the scheduled time of a request, so that a stall is not hidden. */
async function open({ target, perSecond, seconds }: Load & { kind: 'open' }, ask: Ask): Promise<void> {
  const idle: Wire[] = []
  const wires: Wire[] = []
  const waiting: number[] = []
  const running = new Set<Promise<void>>()
  const another = (): Wire | undefined => {
    if (wires.length >= maximumWires) return undefined
    const wire = new Wire(target)
    wires.push(wire)
    return wire
  }
  const take = () => {
    while (waiting.length > 0) {
      const wire = idle.pop() ?? another()
      if (!wire) return
      const work: Promise<void> = ask(wire, waiting.shift()!).finally(() => {
        running.delete(work)
        idle.push(wire)
        take()
      })
      running.add(work)
    }
  }
  const began = performance.now()
  const total = Math.round(perSecond * seconds)
  for (let index = 0; index < total; ) {
    const due = began + (index * 1000) / perSecond
    const now = performance.now()
    if (due > now) {
      await delay(due - now)
      continue
    }
    waiting.push(due)
    index++
    take()
  }
  const deadline = delay(drainTimeoutMs, undefined, { ref: false })
  while (running.size > 0 || waiting.length > 0) {
    const late = await Promise.race([Promise.race(running).then(() => false), deadline.then(() => true)])
    if (late) break
  }
  for (const wire of wires) wire.close()
}
