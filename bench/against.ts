import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client } from './client.ts'
import { benchFolder, ensureData } from './data.ts'
import { type EndpointBench, isRead } from './endpoints.ts'
import { figuresOf, median } from './figures.ts'
import { makeGitRequests } from './git-requests.ts'
import type { Asked, Load, Measured } from './load.ts'
import { ensureRepository } from './repository.ts'
import { type Service, startService } from './service.ts'
import { type Size, type SizeName, sizes } from './sizes.ts'
import { connections, host, readsOf, refusalOf } from './throughput.ts'
import { pushCall, pushesPerRound, type WriteBench, writesFor } from './writes.ts'

/** What this checkout and the other one reached in turns. */
export type Against = {
  name: string
  ours: Side
  theirs: Side
  /** The rate of this checkout divided by that of the other one, of each round: above 1 if this one is faster. */
  rates: readonly number[]
  /** The CPU time of the other one for a request divided by that of this one: above 1 if this one needs less. */
  cpu: readonly number[]
}

type Side = {
  perSecond: number
  cpuMicroseconds: number
  errors: number
  unexpected: Record<string, number>
}

export type AgainstOptions = {
  sizeName: SizeName
  processes: number
  rounds: number
  /** Seconds of load for each call and each checkout. */
  seconds: number
  isChosen(name: string): boolean
  note(line: string): void
}

/**
 * Starts the services of this checkout and of the one in `folder` at the same time, each as an operator starts it, with the Node
 * that it names, on newly seeded data. Yields the comparison of each call: the rounds alternate, so both find the same machine,
 * and only one of them has load at a time.
 */
export async function* compareWith(
  folder: string,
  endpoints: readonly EndpointBench[],
  client: Client,
  options: AgainstOptions,
): AsyncGenerator<Against> {
  const { sizeName, processes, rounds, isChosen, note } = options
  const size = sizes[sizeName]
  const checkout = resolve(folder)
  const repository = await ensureRepository(benchFolder)
  const folders = mkdtempSync(join(benchFolder, 'against-'))
  try {
    // Seeded anew, because what a run writes stays.
    await using ours = await startService(await seedOurs(join(folders, 'ours'), repository, options), processes)
    const theirData = await seedTheirs(checkout, join(folders, 'theirs'), repository, options)
    await using theirs = await startService(theirData, processes, checkout)
    const both = [ours, theirs] as const
    for (const endpoint of endpoints.filter(isRead)) {
      const refusals = await Promise.all(both.map(({ port }) => refusalOf(endpoint, size, port)))
      const refusal = refusals.find((each) => each !== undefined)
      if (refusal !== undefined) note(`${endpoint.name}: ${refusal}`)
      else yield await compare(endpoint.name, both, rounds, readRounds(endpoint, size, client, options))
    }
    const git = makeGitRequests(repository, join(folders, 'git'), pushesOf(rounds, isChosen))
    for (const write of writesFor(size, git).filter(({ name }) => isChosen(name)))
      yield await compare(write.name, both, rounds, writeRounds(write, client))
  } finally {
    rmSync(folders, { recursive: true, force: true })
  }
}

/** Pushes are prepared by git one after the other, so only if they are measured. */
const pushesOf = (rounds: number, isChosen: (name: string) => boolean): number =>
  isChosen(pushCall) ? (rounds + 1) * pushesPerRound : 0

type Seeding = Pick<AgainstOptions, 'sizeName' | 'note'>

function seedOurs(folder: string, repository: string, { sizeName, note }: Seeding): Promise<string> {
  linkRepository(folder, repository)
  return ensureData(sizeName, note, folder)
}

/** Runs the code of the other checkout, which has another schema. It seeds below the folder for temporary files. */
async function seedTheirs(
  checkout: string,
  folder: string,
  repository: string,
  { sizeName, note }: Seeding,
): Promise<string> {
  linkRepository(join(folder, basename(benchFolder)), repository)
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    const theirs = (await import(pathToFileURL(join(checkout, 'bench/data.ts')).href)) as typeof import('./data.ts')
    return await theirs.ensureData(sizeName, note)
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

/** Making the repository takes long, and nothing changes it. */
function linkRepository(folder: string, repository: string): void {
  mkdirSync(folder, { recursive: true })
  symlinkSync(repository, join(folder, basename(repository)))
}

/** Sends the load of this round; the warm-up is round 0. */
type Send = (service: Service, round: number) => Promise<Measured>

/** `cpuSeconds` is the CPU time of all processes of the service for a request, with PostgreSQL, git and background work. */
type Round = Measured & { cpuSeconds: number }

async function compare(
  name: string,
  [ours, theirs]: readonly [Service, Service],
  rounds: number,
  send: Send,
): Promise<Against> {
  const [now, before] = [new Contender(ours, send), new Contender(theirs, send)]
  await before.round(0)
  await now.round(0)
  for (let round = 1; round <= rounds; round++) {
    // The order alternates, because the first run may affect the second.
    if (round % 2 === 0) await now.round(round)
    await before.round(round)
    if (round % 2 === 1) await now.round(round)
  }
  const [own, others] = [now.results(), before.results()]
  // On a busy machine a short round may pass without a response: it has no ratio.
  return {
    name,
    ours: sideOf(own),
    theirs: sideOf(others),
    rates: own.map((round, index) => rateOf(round) / rateOf(others[index]!)).filter(Number.isFinite),
    cpu: own.map((round, index) => others[index]!.cpuSeconds / round.cpuSeconds).filter(Number.isFinite),
  }
}

/** One of the two services with the rounds that it had. */
class Contender {
  readonly #service: Service
  readonly #send: Send
  readonly #rounds: { measured: Measured; cpuBefore: number }[] = []

  constructor(service: Service, send: Send) {
    this.#service = service
    this.#send = send
  }

  async round(round: number): Promise<void> {
    const cpuBefore = this.#service.cpuSeconds()
    this.#rounds.push({ measured: await this.#send(this.#service, round), cpuBefore })
  }

  /** The rounds without the warm-up. The CPU time of a round counts until the next one: work may follow the responses. */
  results(): Round[] {
    const end = this.#service.cpuSeconds()
    return this.#rounds
      .map(({ measured, cpuBefore }, index) => {
        const cpu = (this.#rounds[index + 1]?.cpuBefore ?? end) - cpuBefore
        return { ...measured, cpuSeconds: cpu / measured.requests }
      })
      .slice(1)
  }
}

const rateOf = ({ requests, seconds }: Measured): number => requests / seconds

function sideOf(rounds: readonly Round[]): Side {
  const { perSecond, errors, unexpected } = figuresOf(rounds)
  return { perSecond, cpuMicroseconds: median(rounds.map(({ cpuSeconds }) => cpuSeconds)) * 1e6, errors, unexpected }
}

function readRounds(endpoint: EndpointBench, size: Size, client: Client, options: AgainstOptions): Send {
  const seconds = options.seconds / options.rounds
  return ({ port }, round) =>
    client.run({
      kind: 'closed',
      target: { host, port },
      asked: readsOf(endpoint, size),
      connections,
      seconds: round === 0 ? Math.max(seconds, warmUpSeconds) : seconds,
      expected: 200,
    })
}

const warmUpSeconds = 0.7

/** Both services receive the same requests, so that their data remain comparable. */
function writeRounds({ asked, perRound, connections }: WriteBench, client: Client): Send {
  return ({ port }, round) => {
    const requests: Asked[] = []
    for (let index = 0; index < perRound; index++) requests.push(...asked(round * perRound + index))
    const load: Load = { kind: 'each', target: { host, port }, asked: requests, connections, expected: 201 }
    return client.run(load)
  }
}
