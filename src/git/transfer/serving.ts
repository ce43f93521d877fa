import { removeGraph, saysBrokenGraph } from '../commit-graph/removal.ts'
import { errorPacket } from '../format/packets.ts'
import { brokenRefs } from '../refs/ref-files.ts'
import { repairInBackground } from '../repository/damaged-indexes.ts'
import type { Repository } from '../repository/repository.ts'
import type { Child } from '../runner/child.ts'
import { damaged, isEndOfDamaged, saysUnusable } from '../runner/damage.ts'
import { settingsEnv } from '../runner/environment.ts'
import { GitError } from '../runner/git-error.ts'
import type { Exit } from '../runner/protocol.ts'

/* What all processes have in common that serve clients of git. */

export type TransferOptions = {
  /** One request and one response (smart HTTP), instead of a session (SSH). */
  statelessRpc?: boolean
  /** The `Git-Protocol` header or variable of the client; unknown values are ignored. */
  protocol?: string | undefined
  /** Maximum time in milliseconds without traffic in either direction. Default 10 minutes. */
  idleMs?: number
  /** Default 6 hours. */
  timeoutMs?: number
}

export const usualTimeoutMs = 6 * 60 * 60_000

/** Options of the runner for one of these processes. */
export const runOptions = (
  { gitDir, caller, signal }: Repository,
  { timeoutMs = usualTimeoutMs }: Pick<TransferOptions, 'timeoutMs'>,
) => ({ lane: 'transfer', owner: gitDir, caller, stdin: true, timeoutMs, ...(signal && { signal }) }) as const

/** The header is a list of `key=value` joined by colons; git uses only the version. */
export const protocolEnv = (header: string | undefined): Record<string, string> => {
  const version =
    header?.length !== undefined && header.length < 256 ? /(?:^|:)(version=[012])(?:$|:)/.exec(header)?.[1] : undefined
  return version === undefined ? {} : { GIT_PROTOCOL: version }
}

/** The last packet of a process that could not use the repository: git says it only to the server. */
export const lastOfDamaged = ({ stderr }: Exit) => (saysUnusable(stderr) ? errorPacket(damaged) : undefined)

/**
 * Objects of a pack are compared with three others for deltas, instead of ten. Most deltas are those of the repository, which maintenance has made well. Of a
 * shallow clone, whose objects lack their bases, the pack is as large, and takes two thirds of the processor time; one of new commits is 2 % larger.
 */
const fetchSettings = settingsEnv([['pack.window', '3']])

/** What `upload-pack` says of an object that it could not read, or when no pack could be made of others. Clients get some of it. */
const saysDamaged = /is corrupt\b|aborting due to possible repository corruption/

/** What `upload-pack` says if the client wants an object that is not there, or that a damaged index hides. */
const saysLacking = /not our ref /

/** Starts `upload-pack`. `onDamage` gets what is wrong with a repository that could not be read; the next fetch finds it repaired. */
export async function startUploadPack(
  repo: Repository,
  flags: readonly string[],
  { protocol, onDamage = () => {}, signal = repo.signal, stdin = true, ...options }: UploadPackOptions,
): Promise<Child> {
  const dir = await repo.readDir()
  const child = await repo.git.runner.start(['upload-pack', '--strict', ...flags, dir], {
    ...runOptions(repo, options),
    stdin,
    ...(signal && { signal }),
    env: { ...protocolEnv(protocol), ...fetchSettings },
  })
  child.done.then(
    ({ code, signal, stderr }) => {
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

/** Settings of `receive-pack`: it would fail to compare a push with refs whose files are damaged, and refuses to change hidden ones. */
export const hidingBroken = async (repo: Repository) =>
  (await brokenRefs(repo)).map((name) => ['receive.hideRefs', name] as const)

type UploadPackOptions = Pick<TransferOptions, 'protocol' | 'timeoutMs'> & {
  onDamage?: ((error: unknown) => void) | undefined
  /** Default: that of the repository. */
  signal?: AbortSignal | undefined
  stdin?: boolean
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
