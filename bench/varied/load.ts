import { setTimeout as delay } from 'node:timers/promises'
import { apiPrefix } from '../../src/edges/http/declared.ts'
import { answerLoads } from '../load-process.ts'
import { requestBytes, type Target, Wire } from '../wire.ts'
import { tokenOf } from '../world.ts'
import { Random } from './random.ts'
import { type Call, type Kind, reads } from './reads.ts'
import type { Sample } from './sample.ts'
import { writes } from './writes.ts'

/** Requests at random times (`open`), or of one kind from two connections, each sending after its last response (`alone`). */
export type VariedLoad = Readonly<{ target: Target; sample: Sample; seed: number; seconds: number }> &
  (
    | Readonly<{ load: 'open'; readsPerSecond: number; writesPerSecond: number }>
    | Readonly<{ load: 'alone'; kind: string }>
  )

export type KindMeasured = {
  /** How many got a response. */
  answered: number
  /**
   * Of successes, in ms, from when the request was meant to be sent; the whole wait for requests without a response. Refusals are fast, and
   * would make an overloaded service look so.
   */
  latencies: number[]
  /** Counts of statuses that are no success, and of broken connections. */
  failures: Record<string, number>
  /** The first request that failed. */
  firstFailure?: string
}

export type VariedMeasured = { kinds: Record<string, KindMeasured>; seconds: number; unanswered: number }

/** Maximum connections. */
const maximumWires = 512
/** Maximum wait for the last responses. */
const drainTimeoutMs = 30_000
/** No request is repeated within this time. */
const repeatedAfterMs = 60_000
const drawAttempts = 50

/** All kinds of calls by name. */
export const kinds: ReadonlyMap<string, Kind> = new Map([...reads, ...writes].map((kind) => [kind.name, kind]))

/** Draws requests, none twice within a minute. */
class Requests {
  readonly #random: Random
  readonly #sample: Sample
  /** When each request was last drawn, the oldest first. */
  readonly #drawn = new Map<string, number>()

  constructor(random: Random, sample: Sample) {
    this.#random = random
    this.#sample = sample
  }

  draw(choices: readonly Kind[]): { kind: Kind; call: Call } {
    const now = performance.now()
    for (const [key, at] of this.#drawn) {
      if (now - at < repeatedAfterMs) break
      this.#drawn.delete(key)
    }
    for (let attempt = 0; ; attempt++) {
      const kind = this.#choose(choices)
      const call = kind.make(this.#random, this.#sample)
      const key = `${call.method ?? 'GET'} ${call.user} ${call.path} ${call.json === undefined ? '' : JSON.stringify(call.json)}`
      // A kind with few requests may run out of new ones.
      if (this.#drawn.has(key) && attempt < drawAttempts) continue
      this.#drawn.delete(key)
      this.#drawn.set(key, now)
      return { kind, call }
    }
  }

  #choose(choices: readonly Kind[]): Kind {
    const total = choices.reduce((sum, { weight = 1 }) => sum + weight, 0)
    let left = this.#random.next() * total
    return choices.find(({ weight = 1 }) => (left -= weight) < 0) ?? choices[0]!
  }
}

const bytesOf = (target: Target, { user, path, method, json }: Call): Buffer => {
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json))
  const headers = {
    ...(user !== undefined && { 'private-token': tokenOf(user) }),
    ...(body && { 'content-type': 'application/json' }),
  }
  return requestBytes(target, apiPrefix + path, headers, method, body)
}

const entryOf = ({ kinds }: VariedMeasured, { name }: Kind): KindMeasured =>
  (kinds[name] ??= { answered: 0, latencies: [], failures: {} })

export async function runVaried(load: VariedLoad): Promise<VariedMeasured> {
  const measured: VariedMeasured = { kinds: {}, seconds: 0, unanswered: 0 }
  const requests = new Requests(new Random(load.seed), load.sample)
  const send = async (wire: Wire, { kind, call }: { kind: Kind; call: Call }, since: number): Promise<void> => {
    const entry = entryOf(measured, kind)
    const status = await wire.send(bytesOf(load.target, call)).then(
      (answer) => answer.status,
      () => 'broken' as const,
    )
    if (status !== 'broken') entry.answered++
    else entry.latencies.push(Math.max(drainTimeoutMs, performance.now() - since))
    if (status !== 'broken' && (kind.succeeds?.(status) ?? status === 200))
      entry.latencies.push(performance.now() - since)
    else {
      entry.failures[status] = (entry.failures[status] ?? 0) + 1
      entry.firstFailure ??= `${status} ${call.method ?? 'GET'} ${call.path} by user ${call.user}`
    }
  }
  const began = performance.now()
  if (load.load === 'alone') await alone(load, requests, send)
  else {
    const unanswered = await open(load, requests, send)
    measured.unanswered = unanswered.length
    for (const kind of unanswered) entryOf(measured, kind).latencies.push(drainTimeoutMs)
  }
  measured.seconds = (performance.now() - began) / 1000
  return measured
}

type Send = (wire: Wire, request: { kind: Kind; call: Call }, since: number) => Promise<void>

async function alone(load: VariedLoad & { load: 'alone' }, requests: Requests, send: Send): Promise<void> {
  const kind = kinds.get(load.kind)!
  const end = performance.now() + load.seconds * 1000
  await Promise.all(
    [0, 1].map(async () => {
      const wire = new Wire(load.target)
      while (performance.now() < end) await send(wire, requests.draw([kind]), performance.now())
      wire.close()
    }),
  )
}

/**
 * Sends requests at random times, whatever the responses. Latency counts from when a request was meant to be sent, so that
 * waiting for a connection is part of it. Returns the kinds of those that got no response in time.
 */
async function open(load: VariedLoad & { load: 'open' }, requests: Requests, send: Send): Promise<Kind[]> {
  const arrivals = new Random(load.seed + 1)
  const wires: Wire[] = []
  const idle: Wire[] = []
  const waiting: { request: { kind: Kind; call: Call }; due: number }[] = []
  const running = new Set<{ kind: Kind; call: Call }>()
  const take = () => {
    while (waiting.length > 0) {
      let wire = idle.pop()
      if (!wire) {
        if (wires.length >= maximumWires) return
        wire = new Wire(load.target)
        wires.push(wire)
      }
      const used = wire
      const { request, due } = waiting.shift()!
      running.add(request)
      send(used, request, due).finally(() => {
        running.delete(request)
        idle.push(used)
        take()
      })
    }
  }
  const perSecond = load.readsPerSecond + load.writesPerSecond
  const began = performance.now()
  const end = began + load.seconds * 1000
  for (let due = began + arrivals.gapMs(perSecond); due < end; due += arrivals.gapMs(perSecond)) {
    const isRead = arrivals.chance(load.readsPerSecond / perSecond)
    const request = requests.draw(isRead ? reads : writes)
    const early = due - performance.now()
    if (early > 0) await delay(early)
    waiting.push({ request, due })
    take()
  }
  const deadline = performance.now() + drainTimeoutMs
  while (running.size + waiting.length > 0 && performance.now() < deadline) await delay(10)
  const unanswered = [...running, ...waiting.map(({ request }) => request)].map(({ kind }) => kind)
  for (const wire of wires) wire.close()
  return unanswered
}

answerLoads(import.meta.url, runVaried)
