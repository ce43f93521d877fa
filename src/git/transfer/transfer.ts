import { access, constants, readdir } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { syncFolders } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { nullOid } from '../format/oid.ts'
import { errorPacket, textOf } from '../format/packets.ts'
import { objectInfos } from '../objects/cat-file.ts'
import { readRefFiles } from '../refs/ref-files.ts'
import { repairInBackground } from '../repository/damaged-indexes.ts'
import type { Repository } from '../repository/repository.ts'
import { damaged, damageIn } from '../runner/damage.ts'
import { settingsEnv } from '../runner/environment.ts'
import { fetchCapabilities, refsForPush } from './advertised-refs.ts'
import { FetchRequest } from './fetch-request.ts'
import { listedRefs } from './listed-refs.ts'
import { PushMessages } from './push-messages.ts'
import { ReceiveSession } from './receive-session.ts'
import { receiveSmall } from './receive-small.ts'
import { type AfterMoves, converseOnMoves, type MoveRefs } from './ref-moves.ts'
import {
  hidingBroken,
  lastOfDamaged,
  protocolEnv,
  runOptions,
  startUploadPack,
  type TransferOptions,
  usualTimeoutMs,
  watched,
} from './serving.ts'
import { shareable } from './shareable-fetch.ts'
import { askingAgain } from './still-allowed.ts'
import type { Transfer } from './transfer-stream.ts'
import { UploadSession } from './upload-session.ts'
import { converse, isCutOff, type PushRequest, type Verdict } from './verdict.ts'

export type { TransferOptions } from './serving.ts'
export type { Transfer } from './transfer-stream.ts'

export type FetchOptions = TransferOptions & {
  /** Throws if the client may fetch no more: any request may take long, and by protocol 2 the client of a session may ask again and again. */
  requireStill?: () => Promise<void>
  /** Gets what is wrong with a repository that could not be read. The client sees that, too, or gets what could be read. */
  onDamage?: (error: unknown) => void
}

const hooks = fileURLToPath(new URL('../hooks', import.meta.url))

/** Git lists a ref whose file is damaged with the null id: mirrors would delete one that is not in the list. */
const wantsBrokenRef = (packets: readonly Buffer[]): boolean =>
  packets.some((packet) => textOf(packet) === `want ${nullOid}`)

/**
 * Serves a fetch or clone: one `upload-pack` process with constant memory on the server's side, or a response that equal
 * fetches share (`UploadSession`). A repository that does not exist is served as empty. A request beyond `fetchLimits` breaks
 * the stream with a `too_large` failure.
 */
export async function uploadPack(repo: Repository, options: FetchOptions = {}): Promise<Transfer> {
  const { onDamage = () => {} } = options
  const start = (flags: readonly string[], signal = repo.signal) => startUploadPack(repo, flags, { ...options, signal })
  const version2 = protocolEnv(options.protocol)['GIT_PROTOCOL'] === 'version=2'
  const request = new FetchRequest({ version2 })
  const inspect = (chunk: Buffer) => request.push(chunk)
  const { sharing } = repo.git
  if (!sharing || !version2) {
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
  /** Decides on the push while its objects are in quarantine. */
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
  const { statelessRpc, protocol, onVerdict, onUndecided, onMove, afterMoves, maxInputBytes } = options
  const { timeoutMs = usualTimeoutMs, staysOpen = false } = options
  if (!(await repo.exists())) throw new Failure('unprocessable', 'The repository does not exist')
  // By protocol 1, git writes a line before the refs.
  const isUsual = protocolEnv(protocol)['GIT_PROTOCOL'] !== 'version=1'
  const refs = isUsual && !statelessRpc ? await refsForPush(repo) : undefined
  if (!onMove || !(refs || statelessRpc)) return startReceivePack(repo, options)
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
    ...(await hidingBroken(repo)),
  ] as const
  const [started, hasLost] = await Promise.all([
    repo.git.runner.start(['receive-pack', ...modeFlags(options), repo.gitDir], {
      ...runOptions(repo, options),
      extra: true,
      env: { ...protocolEnv(options.protocol), ...settingsEnv(settings) },
    }),
    hasLostCommit(repo),
  ])
  const onDamage = (error: Error) => {
    repairInBackground(repo)
    onUndecided?.(error)
  }
  const child = started.filtering(new PushMessages(repo.gitDir, onDamage, { hasLost }))
  // Afterwards, the client expects a report.
  if (!options.statelessRpc) child.endingWith(lastOfDamaged)
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

const modeFlags = ({ statelessRpc }: TransferOptions) => (statelessRpc ? ['--stateless-rpc'] : [])
