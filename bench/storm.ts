import { once } from 'node:events'
import { connect } from 'node:net'
import { git } from './repository.ts'
import type { Service } from './service.ts'
import { repositoryProject, rootToken } from './world.ts'

export type Storm = {
  kind: string
  clones: number
  megabytes: number
  one: Cost
  /** `ownPacks` clones whose requests differ in the order of their lines, so that each gets a pack of its own. */
  different: Cost
  equal: Cost
}
export type Cost = { ms: number; cpuSeconds: number }

/** Few, because they are slow. */
export const ownPacks = 4

const kinds: Readonly<Record<string, readonly string[]>> = {
  'whole repository': [],
  'without files (`--filter=blob:none`)': ['filter blob:none\n'],
  'last commit (`--depth=1`)': ['deepen 1\n'],
}

const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text

/** Requests of clones at once, from clients that discard what they get: one, then many equal ones, then a few different ones. */
export async function* stormTimes(service: Service, gitDir: string, clones: number): AsyncGenerator<Storm> {
  const tips = git(gitDir, 'for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/tags').split('\n')
  const wants = [...new Set(tips)].map((oid) => `want ${oid}\n`)
  let used = 0
  for (const [kind, lines] of Object.entries(kinds)) {
    /** Another order of the lines for each call. */
    const next = () => {
      const at = used++ % wants.length
      const ordered = [...wants.slice(at), ...wants.slice(0, at)]
      const asked = ['thin-pack\n', 'ofs-delta\n', 'include-tag\n', ...ordered, ...lines, 'done\n']
      return `${line('command=fetch')}${line('object-format=sha1')}0001${asked.map(line).join('')}0000`
    }
    await costOf(service, [next()])
    const one = await costOf(service, [next()])
    const equal = await costOf(service, Array<string>(clones).fill(next()))
    const different = await costOf(service, Array.from({ length: ownPacks }, next))
    yield { kind, clones, megabytes: one.bytes / 1e6, one, equal, different }
  }
}

async function costOf(service: Service, bodies: readonly string[]): Promise<Cost & { bytes: number }> {
  const cpuBefore = service.cpuSeconds()
  const began = performance.now()
  const sizes = await Promise.all(bodies.map((body) => sizeOfAnswer(service.port, body)))
  const ms = performance.now() - began
  return { ms, cpuSeconds: service.cpuSeconds() - cpuBefore, bytes: sizes[0]! }
}

async function sizeOfAnswer(port: number, body: string): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  const authorization = `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}`
  socket.write(
    [
      `POST /group-1/project-${repositoryProject}.git/git-upload-pack HTTP/1.1`,
      'host: localhost',
      'connection: close',
      'git-protocol: version=2',
      'content-type: application/x-git-upload-pack-request',
      `authorization: ${authorization}`,
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
  let size = 0
  let end = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length
    end = Buffer.concat([end, chunk.subarray(-7)]).subarray(-7)
  })
  await once(socket, 'close')
  if (!end.toString('latin1').endsWith('\r\n0\r\n\r\n')) throw new Error('the response is incomplete')
  return size
}
