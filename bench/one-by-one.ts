import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { callApi } from './api.ts'
import { benchFolder } from './data.ts'
import { ensureRepository, filePath, git } from './repository.ts'
import { startService } from './service.ts'
import { requestBytes, Wire } from './wire.ts'
import { rootToken } from './world.ts'

/** Latency in milliseconds of one client that sends one request at a time: each path for the first time, and again. */
export type OneByOne = {
  name: string
  first: readonly number[]
  again?: readonly number[]
  bytes: number
  targetMs?: number
  /** Whether the target applies to `again`. */
  warm?: true
}

/** After pushes, the service works in the background for a while: commit-graph, sizes, languages. */
const settleMs = 8_000
const commitsMade = 300
const blamedLines = 2_000
const blamedRevisions = 40

/** Measures on a new installation with the repository of 20,000 commits, over one connection to one worker. */
export async function oneByOne(note: (line: string) => void): Promise<OneByOne[]> {
  const source = await ensureRepository(benchFolder)
  mkdirSync(benchFolder, { recursive: true })
  const folder = mkdtempSync(join(benchFolder, 'one-'))
  try {
    await using service = await startService(join(folder, 'data'), 1)
    const { port } = service
    const project = await callApi(port, 'POST', '/projects', { name: 'one' })
    note('pushing the repository')
    git(source, 'push', '--quiet', `http://root:${rootToken}@127.0.0.1:${port}/root/one.git`, 'main', '--tags')
    const revisions = await commitLongFile(port, project.id)
    await delay(settleMs)
    const repository = `/api/v4/projects/${project.id}/repository`
    using caller = new Caller(port)
    const ask = (path: string) => caller.time('GET', `${repository}${path}`)
    const both = async (name: string, paths: readonly string[], more: Pick<OneByOne, 'targetMs' | 'warm'>) => {
      const [first, again]: [number[], number[]] = [[], []]
      for (const path of paths) first.push(await ask(path))
      for (const path of paths) again.push(await ask(path))
      return { name, first, again, bytes: caller.bytes, ...more }
    }
    const some = (count: number, path: (n: number) => string) => Array.from({ length: count }, (_, n) => path(n))
    await ask('/tree')
    const oids = git(source, 'rev-list', '--first-parent', 'main').split('\n')
    return [
      await both(
        'last 20 commits of a file',
        some(60, (n) => `/commits?path=${encodeURIComponent(filePath(3 + n * 13))}`),
        { targetMs: 2, warm: true },
      ),
      await both(
        'last 20 commits of a folder',
        some(20, (n) => `/commits?path=src/area-${n}`),
        { targetMs: 2, warm: true },
      ),
      await both(
        'compare of 300 commits',
        some(15, (n) => `/compare?from=${oids[n * 250 + 300]}&to=${oids[n * 250]}`),
        { targetMs: 150 },
      ),
      await both(
        `blame of ${blamedLines} lines`,
        revisions.slice(-20).map((sha) => `/files/long.txt/blame?ref=${sha}`),
        { targetMs: 100 },
      ),
      { name: 'commit of one file', ...(await commitTimes(caller, repository)), targetMs: 8 },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Commits a file with lines from several commits; returns their ids. */
async function commitLongFile(port: number, project: number): Promise<string[]> {
  const revisions: string[] = []
  const lines = Array.from({ length: blamedLines }, (_, n) => `line ${n}`)
  for (let revision = 0; revision < blamedRevisions; revision++) {
    for (let n = revision; n < blamedLines; n += 97) lines[n] = `line ${n} in revision ${revision}`
    const made = await callApi(port, 'POST', `/projects/${project}/repository/commits`, {
      branch: 'main',
      commit_message: `Revision ${revision}`,
      actions: [{ action: revision === 0 ? 'create' : 'update', file_path: 'long.txt', content: lines.join('\n') }],
    })
    revisions.push(made.id)
  }
  return revisions
}

async function commitTimes(caller: Caller, repository: string): Promise<{ first: number[]; bytes: number }> {
  const times: number[] = []
  for (let n = 0; n < commitsMade; n++)
    times.push(
      await caller.time('POST', `${repository}/commits`, {
        branch: 'main',
        commit_message: `Change ${n}`,
        actions: [{ action: 'update', file_path: filePath(3 + (n % 500)), content: `content ${n}\n` }],
      }),
    )
  return { first: times, bytes: caller.bytes }
}

/** One keep-alive connection, one request at a time. */
class Caller implements Disposable {
  readonly #target: { host: string; port: number }
  readonly #wire: Wire
  /** Size of the last response. */
  bytes = 0

  constructor(port: number) {
    this.#target = { host: '127.0.0.1', port }
    this.#wire = new Wire(this.#target)
  }

  /** Milliseconds until the response is complete. */
  async time(method: string, path: string, body?: object): Promise<number> {
    const headers = { 'private-token': rootToken, ...(body && { 'content-type': 'application/json' }) }
    const request = requestBytes(this.#target, path, headers, method, body && Buffer.from(JSON.stringify(body)))
    const began = performance.now()
    const { status, bytes } = await this.#wire.send(request)
    const took = performance.now() - began
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`)
    this.bytes = bytes
    return took
  }

  [Symbol.dispose](): void {
    this.#wire.close()
  }
}
