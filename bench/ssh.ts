import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { benchFolder } from './data.ts'
import { median, percentileOf } from './figures.ts'
import { type PushTimes, pushTimes } from './push.ts'
import { freePort, type Service, startService } from './service.ts'
import { refused, refusedOpenSsh, type Stalled, stalling, welcomed } from './ssh-clients.ts'
import { addKey, newKey } from './ssh-keys.ts'
import { rootToken } from './world.ts'

/** Median and 90th percentile, in milliseconds. */
export type Latency = { p50: number; p90: number }

export type Refusals = { times: number; ours: Latency; openSsh: Latency; openSshAlone: Latency; firstMs: number }

/** Latency of other clients while `stalled` connections are open, and without them. */
export type StalledTimes = {
  kind: string
  stalled: number
  /** Number of stalled connections still open at the end. */
  stayed: number
  signIn: Record<'alone' | 'beside', Latency>
  call: Record<'alone' | 'beside', Latency>
}

export type SshTimes = { push: PushTimes; refusals: Refusals; stalled: StalledTimes[] }

const stalledCount = 500

/** Measures on a new installation. */
export async function sshTimes(processes: number): Promise<SshTimes> {
  mkdirSync(benchFolder, { recursive: true })
  const folder = mkdtempSync(join(benchFolder, 'ssh-'))
  try {
    await using service = await startService(join(folder, 'data'), processes)
    const [known, stranger] = [newKey(folder, 'known'), newKey(folder, 'stranger')]
    await addKey(service.port, known)
    const refusals = await refusalTimes(service, stranger, 100)
    const stalled: StalledTimes[] = []
    for (const kind of Object.keys(stalling)) stalled.push(await stalledTimes(service, known, kind, 3))
    return { push: await pushTimes(service, known, folder, 5), refusals, stalled }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Alternates between a client in this process, OpenSSH, and OpenSSH to a port without a server, which measures its start. */
async function refusalTimes({ sshPort, databaseUrl }: Service, key: string, times: number): Promise<Refusals> {
  await using db = await connected(databaseUrl)
  const unused = await freePort()
  const all: Record<'ours' | 'openSsh' | 'openSshAlone', number[]> = { ours: [], openSsh: [], openSshAlone: [] }
  for (let n = 0; n < times; n++) {
    // Otherwise the address would be throttled and its keys not checked.
    if (n % 25 === 0) await db.query('delete from sign_in_failures')
    all.ours.push(await refused(sshPort, key))
    all.openSsh.push(await refusedOpenSsh(sshPort, key))
    all.openSshAlone.push(await refusedOpenSsh(unused, key))
  }
  return {
    times,
    firstMs: all.ours[0]!,
    ours: latencyOf(all.ours),
    openSsh: latencyOf(all.openSsh),
    openSshAlone: latencyOf(all.openSshAlone),
  }
}

/** Alternately without and with stalled connections. */
async function stalledTimes(
  { port, sshPort }: Service,
  key: string,
  kind: string,
  rounds: number,
): Promise<StalledTimes> {
  const signIn: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] }
  const call: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] }
  const measure = async (how: 'alone' | 'beside') => {
    for (let n = 0; n < 30; n++) signIn[how].push(await welcomed(sshPort, key))
    for (let n = 0; n < 200; n++) call[how].push(await callTime(port))
  }
  let stayed = 0
  for (let round = 0; round < rounds; round++) {
    await measure('alone')
    const stalled: Stalled[] = []
    while (stalled.length < stalledCount)
      stalled.push(...(await Promise.all(Array.from({ length: 20 }, () => stalling[kind]!(sshPort, key)))))
    await measure('beside')
    stayed = stalled.filter(({ stays }) => stays()).length
    for (const { leave } of stalled) leave()
  }
  const both = (times: Record<'alone' | 'beside', number[]>) => ({
    alone: latencyOf(times.alone),
    beside: latencyOf(times.beside),
  })
  return { kind, stalled: stalledCount, stayed, signIn: both(signIn), call: both(call) }
}

async function callTime(port: number): Promise<number> {
  const began = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}/api/v4/user`, { headers: { 'private-token': rootToken } })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`GET /user: ${answer.status}`)
  return performance.now() - began
}

const latencyOf = (times: readonly number[]): Latency => ({
  p50: median(times),
  p90: percentileOf(times, 0.9),
})

async function connected(connectionString: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
