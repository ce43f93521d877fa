import { access, constants, readdir } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { syncFolders } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { removeGraph, saysBrokenGraph } from '../commit-graph/removal.ts'
import { nullOid } from '../format/oid.ts'
import { errorPacket, textOf } from '../format/packets.ts'
import { objectInfos } from '../objects/cat-file.ts'
import { brokenRefs, readRefFiles } from '../refs/ref-files.ts'
import { repairInBackground } from '../repository/damaged-indexes.ts'
import type { Repository } from '../repository/repository.ts'
import type { Child } from '../runner/child.ts'
import { damaged, damageIn, isEndOfDamaged, saysUnusable } from '../runner/damage.ts'
import { settingsEnv } from '../runner/environment.ts'
import { GitError } from '../runner/git-error.ts'
import { type Exit, endedWell } from '../runner/protocol.ts'
import { fetchCapabilities, refsForPush } from './advertised-refs.ts'
import { FetchRequest } from './fetch-request.ts'
import { listedRefs } from './listed-refs.ts'
import { PushMessages } from './push-messages.ts'
import { ReceiveSession } from './receive-session.ts'
import { receiveSmall } from './receive-small.ts'
import { type AfterMoves, converseOnMoves, type MoveRefs } from './ref-moves.ts'
import { shareable } from './shareable-fetch.ts'
import { askingAgain } from './still-allowed.ts'
import type { Transfer } from './transfer-stream.ts'
import { UploadSession } from './upload-session.ts'
import { converse, isCutOff, type PushRequest, type Verdict } from './verdict.ts'

export type { Transfer } from './transfer-stream.ts'

export type TransferOptions = {
  /** Sends only the list of refs, the response to `GET info/refs`, without the service line that HTTP puts before it. */
  advertise?: boolean
  /** One request and one response (smart HTTP), instead of a session (SSH). */
  statelessRpc?: boolean
  /** The `Git-Protocol` header or variable of the client; unknown values are ignored. */
  protocol?: string | undefined
  /** Maximum time in milliseconds without traffic in either direction. Default 10 minutes. */
  idleMs?: number
  /** Default 6 hours. */
  timeoutMs?: number
}

export type FetchOptions = TransferOptions & {
  /** Throws if the client may fetch no more: any request may take long, and by protocol 2 the client of a session may ask again and again. */
  requireStill?: () => Promise<void>
  /** Gets what is wrong with a repository that could not be read. The client sees that, too, or gets what could be read. */
  onDamage?: (error: unknown) => void
}

const usualTimeoutMs = 6 * 60 * 60_000

/**
 * Objects of a pack are compared with three others for deltas, instead of ten. Most deltas are those of the repository, which maintenance has made well. Of a
 * shallow clone, whose objects lack their bases, the pack is as large, and takes two thirds of the processor time; one of new commits is 2 % larger.
 */
const fetchSettings = settingsEnv([['pack.window', '3']])

const hooks = fileURLToPath(new URL('../hooks', import.meta.url))

/** What `upload-pack` says of an object that it could not read, or when no pack could be made of others. Clients get some of it. */
const saysDamaged = /is corrupt\b|aborting due to possible repository corruption/

/** What `upload-pack` says if the client wants an object that is not there, or that a damaged index hides. */
const saysLacking = /not our ref /

/** Git lists a ref whose file is damaged with the null id: mirrors would delete one that is not in the list. */
const wantsBrokenRef = (packets: readonly Buffer[]): boolean =>
  packets.some((packet) => textOf(packet) === `want ${nullOid}`)

/** The last packet of a process that could not use the repository: git says it only to the server. */
const lastOfDamaged = ({ stderr }: Exit) => (saysUnusable(stderr) ? errorPacket(damaged) : undefined)

/**
 * Serves a fetch or clone: one `upload-pack` process with constant memory on the server's side, or a response that equal
 * fetches share (`UploadSession`). A repository that does not exist is served as empty. A request beyond `fetchLimits` breaks
 * the stream with a `too_large` failure.
 */
export async function uploadPack(repo: Repository, options: FetchOptions = {}): Promise<Transfer> {
  const env = protocolEnv(options.protocol)
  if (options.advertise && env['GIT_PROTOCOL'] === 'version=2') return finished(await fetchCapabilities(repo.git))
  const dir = await repo.readDir()
  const { onDamage = () => {} } = options
  const start = async (flags: readonly string[], signal = repo.signal) => {
    const child = await repo.git.runner.start(['upload-pack', '--strict', ...flags, dir], {
      ...runOptions(repo, options),
      ...(signal && { signal }),
      env: { ...env, ...fetchSettings },
    })
    child.done.then(
      ({ code, signal, stderr }) => {
        // The next fetch succeeds.
        if (saysBrokenGraph(stderr)) void removeGraph(dir).catch(onDamage)
        const isDamage =
          saysDamaged.test(stderr) || saysUnusable(stderr) || (signal !== null && isEndOfDamaged({ code, signal }))
        if (isDamage) onDamage(new GitError('upload-pack', code, signal, stderr))
        if (isDamage || saysLacking.test(stderr)) repairInBackground(repo)
      },
      () => {},
    )
    return child
  }
  const version2 = env['GIT_PROTOCOL'] === 'version=2'
  const request = new FetchRequest({ version2 })
  const inspect = (chunk: Buffer) => request.push(chunk)
  const { sharing } = repo.git
  if (!sharing || !version2 || options.advertise) {
    const requireStill = askingAgain(options.requireStill)
    const child = (await start(modeFlags(options))).endingWith(lastOfDamaged).inspecting((chunk) => {
      inspect(chunk)
      return requireStill()
    })
    return { stream: child, done: watched(child, { idleMs: options.idleMs }) }
  }
  // Git lists the refs that it can read.
  const leaveToGit = (error: unknown) => {
    const damage = damageIn(error)
    if (!damage) throw error
    onDamage(damage)
    return undefined
  }
  const session = new UploadSession({
    sharing,
    caller: repo.caller,
    isStateless: options.statelessRpc === true,
    inspect,
    requireStill: options.requireStill,
    greeting: () => fetchCapabilities(repo.git),
    async answer(packets) {
      if (!wantsBrokenRef(packets)) return listedRefs(repo, packets).catch(leaveToGit)
      onDamage(repo.damage('target of a ref that a client wants'))
      return errorPacket(damaged)
    },
    shareable: (packets) => shareable(repo, packets, sharing.maxBytes),
    async start(sharedBytes) {
      const child = (await start(modeFlags(options))).endingWith(lastOfDamaged)
      watched(child, { idleMs: options.idleMs, moreBytes: sharedBytes })
      return child
    },
    startShared: (bytes) => async (signal) => {
      const child = await start(['--stateless-rpc'], signal)
      watched(child)
      child.end(bytes)
      return child
    },
    signal: repo.signal,
  })
  if (!options.statelessRpc) await session.begin()
  return { stream: session, done: session.done }
}

/**
 * Serves `git archive --remote`: anything reachable from refs, in the client's format. One process. A repository that does not
 * exist has no refs.
 */
export async function uploadArchive(
  repo: Repository,
  { idleMs, requireStill, ...options }: FetchOptions = {},
): Promise<Transfer> {
  const child = await repo.git.runner.start(['upload-archive', await repo.readDir()], {
    ...runOptions(repo, options),
  })
  // Git reads the refs at the end of a short request, which may take hours.
  const stream = requireStill ? child.inspecting(requireStill) : child
  return { stream, done: watched(child, { idleMs }) }
}

export type ReceiveOptions = TransferOptions & {
  /** Decides on the push while its objects are in quarantine. Not called for an advertisement. */
  onVerdict(request: PushRequest): Promise<Verdict>
  /**
   * Gets the error of `onVerdict`, or what git could not read of a damaged repository. The push is then refused with a complete report, and
   * `done` does not reject.
   */
  onUndecided?: ((error: unknown) => void) | undefined
  /** Moves the refs of an accepted push, whose objects are in the repository by then. Default: git moves each ref itself. */
  onMove?: MoveRefs | undefined
  /** Runs after `onMove` has moved the refs; the client prints its lines. */
  afterMoves?: AfterMoves | undefined
  /** Rejects larger packs, with a message to the client. */
  maxInputBytes?: number | undefined
  /** With `statelessRpc`: the client waits for the response without ending its request. */
  staysOpen?: boolean
}

/**
 * Serves a push: `receive-pack` with quarantine, or the same in this process if it is small (`ReceiveSession`). `onVerdict` runs once, after the
 * objects were checked and before any ref moves; `onMove` then moves the refs, or git does, atomically only if the client requested it
 * (`--atomic`). An error of either fails the push and rejects `done`. The repository must exist. With git: one process, and a small shell for each hook.
 */
export async function receivePack(repo: Repository, options: ReceiveOptions): Promise<Transfer> {
  const { advertise, statelessRpc, protocol, onVerdict, onUndecided, onMove, afterMoves, maxInputBytes } = options
  const { timeoutMs = usualTimeoutMs, staysOpen = false } = options
  if (!(await repo.exists())) throw new Failure('unprocessable', 'The repository does not exist')
  // By protocol 1, git writes a line before the refs.
  const isUsual = protocolEnv(protocol)['GIT_PROTOCOL'] !== 'version=1'
  const refs = isUsual && (advertise || !statelessRpc) ? await refsForPush(repo) : undefined
  if (advertise && refs) return finished(refs)
  if (advertise || !onMove || !(refs || statelessRpc)) return startReceivePack(repo, options)
  const session = new ReceiveSession({
    greeting: refs,
    staysOpen: staysOpen || !statelessRpc,
    async receive(request) {
      if (request.pack.length > (maxInputBytes ?? Number.POSITIVE_INFINITY)) return undefined
      const received = receiveSmall(repo, request, { onVerdict, onUndecided, onMove, afterMoves }, timeoutMs)
      // It needs nothing more of the client.
      repo.git.pushes.add({ endInput() {}, done: received })
      return received
    },
    start: () => startReceivePack(repo, { ...options, statelessRpc: true }),
  })
  return { stream: session, done: session.done }
}

/** A transfer of bytes that are there. */
function finished(bytes: Buffer): Transfer {
  const stream = new PassThrough()
  stream.end(bytes)
  return { stream, done: Promise.resolve(endedWell) }
}

async function startReceivePack(
  repo: Repository,
  { onVerdict, onUndecided, onMove, afterMoves, maxInputBytes, ...options }: ReceiveOptions,
): Promise<Transfer> {
  // Git ignores a hook that it may not execute, and would accept everything.
  await access(`${hooks}/pre-receive`, constants.X_OK)
  await access(`${hooks}/proc-receive`, constants.X_OK)
  const settings = [
    ['core.hooksPath', hooks],
    ...(onMove ? [['receive.procReceiveRefs', 'refs'] as const] : []),
    ...(maxInputBytes === undefined
      ? []
      : [['receive.maxInputSize', String(Math.max(1, Math.trunc(maxInputBytes)))] as const]),
    // Git would fail to compare the push with these. It refuses to change a hidden ref.
    ...(await brokenRefs(repo)).map((name) => ['receive.hideRefs', name] as const),
  ] as const
  const [started, hasLost] = await Promise.all([
    repo.git.runner.start(['receive-pack', ...modeFlags(options), repo.gitDir], {
      ...runOptions(repo, options),
      extra: true,
      env: { ...protocolEnv(options.protocol), ...settingsEnv(settings) },
    }),
    !options.advertise && hasLostCommit(repo),
  ])
  const onDamage = (error: Error) => {
    repairInBackground(repo)
    onUndecided?.(error)
  }
  const child = started.filtering(new PushMessages(repo.gitDir, onDamage, { hasLost }))
  // Afterwards, the client expects a report.
  if (options.advertise || !options.statelessRpc) child.endingWith(lastOfDamaged)
  const conversation = hooksOf(child.channel!, repo, { onVerdict, onUndecided, onMove, afterMoves })
  let isEnded = false
  // Killed by a signal, git would leave its quarantine behind.
  const endFirst = () => {
    if (isEnded) child.kill()
    else child.endInput()
    isEnded = true
  }
  const done = watched(child, { idleMs: options.idleMs, end: endFirst }).then(async (exit) => {
    const { error } = await conversation
    if (error !== undefined) throw error
    return exit
  })
  // The caller may use only the stream.
  done.catch(() => {})
  repo.git.pushes.add({ endInput: () => child.endInput(), done })
  return { stream: child, done }
}

/** Branches that are looked at: a repository that has lost a pack has lost the commits of most. */
const maxLooked = 100

/** Whether a branch has lost its commit: one round trip. */
async function hasLostCommit(repo: Repository): Promise<boolean> {
  try {
    const branches = await readRefFiles(repo, 'refs/heads', { broken: 'omit' })
    if (branches === 'ask') return false
    const tips = branches.slice(0, maxLooked).map(({ oid }) => oid)
    return (await objectInfos(await repo.objects(), tips)).includes(undefined)
  } catch (error) {
    return damageIn(error) !== undefined
  }
}

/** Answers both hooks; resolves with the error of the one that failed. */
async function hooksOf(
  channel: Socket,
  repo: Repository,
  {
    onVerdict,
    onUndecided,
    onMove,
    afterMoves,
  }: Pick<ReceiveOptions, 'onVerdict' | 'onUndecided' | 'onMove' | 'afterMoves'>,
): Promise<{ error?: unknown }> {
  const objectDir = join(repo.gitDir, 'objects')
  /** Object folders into which git moves files after the push is accepted. */
  let folders: string[] = []
  const { accepted, error } = await converse(channel, repo, async (request) => {
    const verdict = await onVerdict(request)
    const from = request.quarantine.objectDir
    if (verdict.ok && from !== objectDir) folders = (await readdir(from)).map((name) => join(objectDir, name))
    return verdict
  })
  if (!accepted) {
    if (error === undefined || !onUndecided) return { error }
    onUndecided(error)
    return {}
  }
  // Git syncs the content of objects but not their names; both must be durable before a ref refers to them.
  const moveDurably: MoveRefs = async (...moves) => {
    if (folders.length > 0) await syncFolders([objectDir, ...folders])
    return onMove!(...moves)
  }
  try {
    if (onMove) await converseOnMoves(channel, moveDurably, afterMoves)
    return {}
  } catch (error) {
    // For an aborted push, the exit code tells the reason.
    return isCutOff(error) ? {} : { error }
  } finally {
    channel.end()
  }
}

const modeFlags = ({ advertise, statelessRpc }: TransferOptions) => [
  ...(statelessRpc || advertise ? ['--stateless-rpc'] : []),
  ...(advertise ? ['--http-backend-info-refs'] : []),
]

const runOptions = (
  { gitDir, caller, signal }: Repository,
  { advertise, timeoutMs = usualTimeoutMs }: TransferOptions,
) => ({ lane: 'transfer', owner: gitDir, caller, stdin: !advertise, timeoutMs, ...(signal && { signal }) }) as const

/** The header is a list of `key=value` joined by colons; git uses only the version. */
const protocolEnv = (header: string | undefined): Record<string, string> => {
  const version =
    header?.length !== undefined && header.length < 256 ? /(?:^|:)(version=[012])(?:$|:)/.exec(header)?.[1] : undefined
  return version === undefined ? {} : { GIT_PROTOCOL: version }
}

type Watching = {
  readonly idleMs?: number | undefined
  /** Bytes transferred apart from those of the process. */
  moreBytes?(): number
  /** Called again and again without traffic until the process has ended. */
  end?(): void
}

/** Ends a transfer without traffic: a suspended client would otherwise hold its process for hours. */
export function watched(
  child: Child,
  { idleMs = 10 * 60_000, moreBytes = () => 0, end = () => child.kill() }: Watching = {},
): Promise<Exit> {
  const movedBytes = () => child.movedBytes + moreBytes()
  let moved = movedBytes()
  const timer = setInterval(() => {
    if (movedBytes() === moved) end()
    moved = movedBytes()
  }, idleMs).unref()
  const done = child.done.finally(() => clearInterval(timer))
  done.catch(() => {})
  return done
}
