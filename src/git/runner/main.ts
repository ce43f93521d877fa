import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { availableParallelism, constants } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import { lowerSessionPriority } from '../../kernel/priority.ts'
import { Shares } from '../../kernel/shares.ts'
import {
  type ClientNotice,
  type Exit,
  type Greeting,
  type Lane,
  lineSplitter,
  type RunnerNotice,
  type RunRequest,
} from './protocol.ts'

/**
 * The runner: a small process that owns every git child, because the time that `spawn` blocks grows with the heap of its
 * caller. It never reads or writes a running child's data: the child gets the connection itself.
 */

const maxStderrBytes = 64 * 1024
const killGraceMs = 2_000
const maxGreetingBytes = 1024 * 1024

type Client = {
  send(notice: RunnerNotice): void
  env: Record<string, string>
  jobs: Map<number, Job>
  /** The highest id of a job that has arrived. */
  newest: number
  /** Jobs that were cancelled before they arrived, because the two messages use different connections. */
  unwanted: Set<number>
}
type Job = RunRequest & {
  client: Client
  data: Socket
  channel?: Socket
  pid?: number
  timers: NodeJS.Timeout[]
  timedOut: boolean
  ending: boolean
}

const clients = new Map<string, Client>()
const cores = availableParallelism()

/** Maximum concurrent processes and maximum waiting requests of each lane. */
const lanes: Readonly<Record<Lane, Shares<Job>>> = {
  short: new Shares<Job>({ slots: Math.max(8, cores * 4), maxWaiting: 2_000, start: spawnInTurn }),
  transfer: new Shares<Job>({ slots: 128, maxWaiting: 1_000, start: spawnInTurn }),
  // All helpers count as the service's own, which may use half of the slots. None waits, because helpers run for an unknown
  // time.
  helper: new Shares<Job>({ slots: 2_048, maxWaiting: 0, start: spawnInTurn }),
}

/** A caller's processes beyond this number run at lower priority. */
const fullPriorityProcesses = cores

const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  let head = ''
  const decoder = new StringDecoder('utf8')
  const onData = (chunk: Buffer) => {
    head += decoder.write(chunk)
    const end = head.indexOf('\n')
    if (end < 0 && head.length < maxGreetingBytes) return
    socket.off('data', onData)
    try {
      // Without a newline, the line is truncated and so is not valid JSON.
      greet(JSON.parse(head.slice(0, end)) as Greeting, socket, head.slice(end + 1))
    } catch {
      socket.destroy()
    }
  }
  socket.on('data', onData)
})

function greet(greeting: Greeting, socket: Socket, rest: string) {
  if (greeting.kind === 'control') return attach(greeting.client, greeting.env, socket, rest)
  const client = clients.get(greeting.client)
  if (!client || rest !== '') return socket.destroy()
  // Stops reading; `spawn` also stops the handle before it passes the descriptor on.
  socket.pause()
  if (greeting.kind === 'extra') {
    const job = client.jobs.get(greeting.id)
    if (!job?.extra || job.channel) return socket.destroy()
    job.channel = socket
    return enqueue(job)
  }
  const job: Job = { ...greeting, client, data: socket, timers: [], timedOut: false, ending: false }
  client.jobs.set(job.id, job)
  client.newest = Math.max(client.newest, job.id)
  if (client.unwanted.delete(job.id)) return refuse(job, 'ended before it started')
  // Not in the turn of the greeting: Node must not resume reading once the descriptor has been passed on.
  if (!job.extra) setImmediate(enqueue, job)
}

function attach(name: string, env: Record<string, string>, socket: Socket, rest: string) {
  socket.setEncoding('utf8')
  const client: Client = {
    env,
    jobs: new Map(),
    newest: 0,
    unwanted: new Set(),
    send: (notice) => void (socket.writable && socket.write(`${JSON.stringify(notice)}\n`)),
  }
  clients.set(name, client)
  const onLine = lineSplitter((line) => {
    const notice = JSON.parse(line) as ClientNotice
    if ('load' in notice) {
      client.send({ load: mapValues(lanes, (lane) => lane.load), answers: notice.load })
      return
    }
    if ('owners' in notice) return client.send({ owners: ownersOfTransfers(), answers: notice.owners })
    const job = client.jobs.get(notice.kill)
    if (job) end(job, notice.signal)
    else if (notice.kill > client.newest) client.unwanted.add(notice.kill)
  })
  if (rest) onLine(rest)
  socket.on('data', onLine)
  socket.on('end', () => socket.end())
  socket.on('close', () => {
    clients.delete(name)
    for (const job of [...client.jobs.values()]) end(job, 'SIGTERM')
  })
  client.send({ ready: true, pid: process.pid })
}

const ownersOfTransfers = () => {
  const jobs = [...clients.values()].flatMap((client) => [...client.jobs.values()])
  return [...new Set(jobs.filter(({ lane }) => lane === 'transfer').map(({ owner }) => owner))]
}

function enqueue(job: Job) {
  // It may have been cancelled since it arrived.
  if (!job.client.jobs.has(job.id)) return
  const refused = lanes[job.lane].add(job)
  if (refused) refuse(job, 'too many git processes are waiting', refused.full)
}

function refuse(job: Job, reason: string, full?: 'caller' | 'all') {
  job.client.jobs.delete(job.id)
  job.data.destroy()
  job.channel?.destroy()
  job.client.send({ id: job.id, refused: reason, ...(full && { full }) })
}

const mapValues = <Key extends string, From, To>(record: Readonly<Record<Key, From>>, to: (value: From) => To) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value as From)])) as Record<Key, To>

/**
 * Jobs that have a slot but no process yet. Spawning takes milliseconds and blocks, so it happens one job at a time,
 * round-robin by caller, and skips jobs cancelled meanwhile.
 */
const spawning = new Map<string, Job[]>()
let isSpawning = false

function spawnInTurn(job: Job) {
  const line = spawning.get(job.caller)
  if (line) line.push(job)
  else spawning.set(job.caller, [job])
  if (isSpawning) return
  isSpawning = true
  setImmediate(spawnNext)
}

function spawnNext() {
  const next = spawning.entries().next().value
  if (!next) {
    isSpawning = false
    return
  }
  const [caller, line] = next
  spawning.delete(caller)
  const job = line.shift()!
  if (line.length > 0) spawning.set(caller, line)
  start(job)
  setImmediate(spawnNext)
}

const { PRIORITY_BELOW_NORMAL: backgroundPriority, PRIORITY_LOW: floodPriority } = constants.priority

function start(job: Job) {
  const release = () => lanes[job.lane].release(job)
  // The client may have disconnected while the job waited.
  if (!job.client.jobs.has(job.id)) return queueMicrotask(release)
  // The shell of the hook needs a blocking channel, as git needs a blocking stdin.
  blocking(job.channel, true)
  let child: ReturnType<typeof spawn>
  try {
    child = spawn('git', job.argv, {
      env: { ...job.client.env, ...job.env },
      cwd: '/',
      // Its own process group, so that a signal also reaches git's children.
      detached: true,
      stdio: [job.stdin ? job.data : 'ignore', job.data, 'pipe', ...(job.channel ? [job.channel] : [])],
    })
  } catch (error) {
    queueMicrotask(release)
    return refuse(job, String(error))
  }
  child.on('error', (error) => {
    if (child.pid !== undefined) return
    release()
    refuse(job, error.message)
  })
  // Closing at once would give an error to a client that still writes, and discard the child's last output: see `drain`.
  if (!job.stdin || child.pid === undefined) job.data.destroy()
  job.channel?.destroy()
  if (child.pid === undefined) return
  job.pid = child.pid
  const isFlood =
    job.lane === 'transfer' && job.caller !== '' && lanes.transfer.heldBy(job.caller) > fullPriorityProcesses
  // Each child has a session of its own.
  if (isFlood) lowerSessionPriority(child.pid, floodPriority)
  else if (job.background) lowerSessionPriority(child.pid, backgroundPriority)
  job.client.send({ id: job.id, started: child.pid })
  if (job.timeoutMs > 0) {
    job.timers.push(
      setTimeout(() => {
        job.timedOut = true
        end(job, 'SIGTERM')
      }, job.timeoutMs),
    )
  }
  const stderr = collect(child.stderr!)
  child.on('exit', (code, signal) => {
    for (const timer of job.timers) clearTimeout(timer)
    if (job.stdin) drain(job.data)
    // A killed child may leave children of its own; the group outlives its leader.
    if (signal !== null || job.ending) signalGroup(child.pid!, 'SIGKILL')
    let reported = false
    const report = () => {
      if (reported) return
      reported = true
      clearTimeout(late)
      const exit: Exit = { code, signal, stderr: stderr.text(), timedOut: job.timedOut }
      job.client.jobs.delete(job.id)
      job.client.send({ id: job.id, exit })
      release()
    }
    // Another process may still hold stderr open; the notice does not wait for it.
    const late = setTimeout(report, 500)
    child.on('close', report)
  })
}

/** Ends the output of an ended child, and discards further input until the client knows. */
function drain(data: Socket) {
  // The child set it to blocking, and both share the same file description.
  blocking(data, false)
  data.setTimeout(killGraceMs, () => data.destroy())
  data.end()
  data.resume()
}

/** libuv makes descriptors blocking for children, but only 0 to 2, and does not reset them. */
function blocking(socket: Socket | undefined, on: boolean) {
  const { _handle } = (socket ?? {}) as { _handle?: { setBlocking?(on: boolean): void } | null }
  _handle?.setBlocking?.(on)
}

function collect(stream: NodeJS.ReadableStream) {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < maxStderrBytes) chunks.push(chunk.subarray(0, maxStderrBytes - size))
    size += chunk.length
  })
  return { text: () => Buffer.concat(chunks).toString('utf8') }
}

function end(job: Job, signal: NodeJS.Signals) {
  if (job.pid === undefined) {
    lanes[job.lane].remove(job)
    return refuse(job, 'ended before it started')
  }
  const { pid } = job
  job.ending = true
  signalGroup(pid, signal)
  if (signal !== 'SIGKILL') job.timers.push(setTimeout(() => signalGroup(pid, 'SIGKILL'), killGraceMs))
}

function signalGroup(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has ended already.
  }
}

let leaving = false

/** Ends all children, with SIGTERM first, so that git removes its lock files. */
function shutDown() {
  if (leaving) return
  leaving = true
  server.close()
  signalAll('SIGTERM')
  const leave = () => {
    signalAll('SIGKILL')
    process.exit(0)
  }
  const look = setInterval(() => [...clients.values()].every(({ jobs }) => jobs.size === 0) && leave(), 10)
  look.ref()
  setTimeout(leave, killGraceMs)
}

function signalAll(signal: NodeJS.Signals) {
  for (const client of clients.values()) {
    for (const { pid } of client.jobs.values()) if (pid !== undefined) signalGroup(pid, signal)
  }
}

const socketPath = process.argv[2]
if (socketPath === undefined) throw new Error('usage: main.ts <socket path>')
process.title = 'stithy git runner'
// The parent closes the channel or sends a signal.
process.on('disconnect', shutDown)
process.on('SIGTERM', shutDown)
process.on('SIGINT', () => {})
// A socket left by an earlier runner that was killed.
rmSync(socketPath, { force: true })
server.listen(socketPath, () => process.send?.({ listening: socketPath }))
