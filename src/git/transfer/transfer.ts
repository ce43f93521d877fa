import { access, constants, readdir } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { syncFolders } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Repository } from '../repository/repository.ts'
import type { Child } from '../runner/child.ts'
import { settingsEnv } from '../runner/environment.ts'
import type { Exit } from '../runner/protocol.ts'
import { FetchRequest } from './fetch-request.ts'
import { converseOnMoves, type MoveRefs } from './ref-moves.ts'
import { converse, isCutOff, type PushRequest, type Verdict } from './verdict.ts'

export type TransferOptions = {
  /** Only the list of refs: the answer to `GET info/refs`, without the service line that HTTP puts before it. */
  advertise?: boolean
  /** One request, one answer (smart HTTP), rather than a conversation (SSH). */
  statelessRpc?: boolean
  /** The `Git-Protocol` header or variable as the client sent it; what is not understood is ignored. */
  protocol?: string | undefined
  /** Ends the transfer when no byte went either way for so long. Default 10 minutes. */
  idleMs?: number
  /** Default 6 hours. */
  timeoutMs?: number
}

export type Transfer = {
  /** Write the client's bytes, end it after the last; read git's. Destroying it ends the process. */
  readonly stream: Duplex
  /** How it went. A refused push is code 0 (or 1, by protocol): the client is told in the stream. */
  readonly done: Promise<Exit>
}

const hooks = fileURLToPath(new URL('../hooks', import.meta.url))

/**
 * Serves a fetch or clone: one `upload-pack` process with constant memory on our side. A repository that does not exist
 * serves as an empty one. A request beyond `fetchLimits` breaks the stream with a `too_large` failure.
 */
export async function uploadPack(repo: Repository, options: TransferOptions = {}): Promise<Transfer> {
  const child = await repo.git.runner.start(['upload-pack', '--strict', ...modeFlags(options), await repo.readDir()], {
    ...runOptions(repo, options),
    env: protocolEnv(options.protocol),
  })
  const version2 = protocolEnv(options.protocol)['GIT_PROTOCOL'] === 'version=2'
  const request = new FetchRequest({ version2 })
  child.inspecting((chunk) => request.push(chunk))
  return { stream: child, done: watched(child, options.idleMs) }
}

/**
 * Serves `git archive --remote`: what the refs reach, packed by git as the client asks. One process. A repository that
 * does not exist has no refs.
 */
export async function uploadArchive(repo: Repository, { idleMs, ...options }: TransferOptions = {}): Promise<Transfer> {
  const child = await repo.git.runner.start(['upload-archive', await repo.readDir()], {
    ...runOptions(repo, options),
  })
  return { stream: child, done: watched(child, idleMs) }
}

export type ReceiveOptions = TransferOptions & {
  /** Decides on the push while its objects are in quarantine. Not asked for an advertisement. */
  onVerdict(request: PushRequest): Promise<Verdict>
  /** Moves the refs of an accepted push, whose objects the repository then has. Default: git moves each by itself. */
  onMove?: MoveRefs
  /** Refuses a pack of more than this, with a message to the client. */
  maxInputBytes?: number | undefined
}

/**
 * Serves a push: `receive-pack` with quarantine. `onVerdict` runs once, after git has checked the objects and before any
 * ref moves; `onMove` then moves the refs or leaves that to git, which moves all or none only if the client asked for it
 * (`--atomic`). An error of either fails the push and rejects `done`. The repository must exist. One process, and a small shell for
 * each hook.
 */
export async function receivePack(
  repo: Repository,
  { onVerdict, onMove, maxInputBytes, ...options }: ReceiveOptions,
): Promise<Transfer> {
  if (!(await repo.exists())) throw new Failure('unprocessable', 'The repository does not exist')
  // Git takes a hook it may not execute for none, and would let everything through.
  await access(`${hooks}/pre-receive`, constants.X_OK)
  await access(`${hooks}/proc-receive`, constants.X_OK)
  const settings = [
    ['core.hooksPath', hooks],
    ...(onMove ? [['receive.procReceiveRefs', 'refs'] as const] : []),
    ...(maxInputBytes === undefined
      ? []
      : [['receive.maxInputSize', String(Math.max(1, Math.trunc(maxInputBytes)))] as const]),
  ] as const
  const child = await repo.git.runner.start(['receive-pack', ...modeFlags(options), repo.gitDir], {
    ...runOptions(repo, options),
    extra: true,
    env: { ...protocolEnv(options.protocol), ...settingsEnv(settings) },
  })
  const conversation = hooksOf(child.channel!, repo, onVerdict, onMove)
  const done = watched(child, options.idleMs).then(async (exit) => {
    const { error } = await conversation
    if (error !== undefined) throw error
    return exit
  })
  // The edge may only look at the stream.
  done.catch(() => {})
  return { stream: child, done }
}

/** Answers both hooks; resolves with the error of whichever failed. */
async function hooksOf(
  channel: Socket,
  repo: Repository,
  onVerdict: ReceiveOptions['onVerdict'],
  onMove: MoveRefs | undefined,
): Promise<{ error?: unknown }> {
  const objectDir = join(repo.gitDir, 'objects')
  /** Folders of objects that git moves files to once the push is accepted. */
  let folders: string[] = []
  const { accepted, error } = await converse(channel, repo, async (request) => {
    const verdict = await onVerdict(request)
    const from = request.quarantine.objectDir
    if (verdict.ok && from !== objectDir) folders = (await readdir(from)).map((name) => join(objectDir, name))
    return verdict
  })
  if (!accepted) return { error }
  // Git syncs the content of objects, and not their names; both must last before a ref names them.
  const moveDurably: MoveRefs = async (...moves) => {
    if (folders.length > 0) await syncFolders([objectDir, ...folders])
    return onMove!(...moves)
  }
  try {
    if (onMove) await converseOnMoves(channel, moveDurably)
    return {}
  } catch (error) {
    // The exit code tells of a push that was given up.
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
  { gitDir, caller, gone }: Repository,
  { advertise, timeoutMs = 6 * 60 * 60_000 }: TransferOptions,
) => ({ lane: 'transfer', owner: gitDir, caller, stdin: !advertise, timeoutMs, ...(gone && { gone }) }) as const

/** The header is a list of `key=value` joined by colons, of which only the version means anything to git. */
const protocolEnv = (header: string | undefined): Record<string, string> => {
  const version =
    header?.length !== undefined && header.length < 256 ? /(?:^|:)(version=[012])(?:$|:)/.exec(header)?.[1] : undefined
  return version === undefined ? {} : { GIT_PROTOCOL: version }
}

/** Ends a transfer in which nothing moves: a client that went to sleep would hold its process for hours. */
export function watched(child: Child, idleMs = 10 * 60_000): Promise<Exit> {
  let moved = child.movedBytes
  const timer = setInterval(() => {
    if (child.movedBytes === moved) child.kill()
    moved = child.movedBytes
  }, idleMs).unref()
  const done = child.done.finally(() => clearInterval(timer))
  done.catch(() => {})
  return done
}
