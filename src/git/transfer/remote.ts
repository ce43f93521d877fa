import type { Repository } from '../repository/repository.ts'
import { settingsEnv } from '../runner/environment.ts'
import { gitFailure, isDiskFull } from '../runner/git-error.ts'
import { repositorySize } from './maintenance.ts'

/** A remote repository and how to reach it. */
export type Remote = {
  /** Without credentials: other processes can see it. */
  readonly url: string
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** The only address to which the host may resolve. */
  readonly pinned?: { readonly host: string; readonly port: number; readonly address: string } | undefined
}

export type RemoteLimits = {
  readonly timeoutMs: number
  /** Maximum size of the folder of new objects. */
  readonly maxBytes: number
}

/** Why a remote was of no use; `output` is git's output. Failures that the remote did not cause are thrown. */
export type RemoteFailure = {
  readonly failed: 'refused' | 'too_slow' | 'too_large'
  readonly output: string
  readonly stdout: string
}

export type RemoteCommand = {
  readonly subcommand: 'ls-remote' | 'fetch' | 'push'
  readonly flags: readonly `-${string}`[]
  /** Words after the URL. */
  readonly args?: readonly string[]
  /** Written to stdin. */
  readonly input?: string
}

const lookEveryMs = 2000
/** Maximum output, for some 500,000 refs; more is `too_large`. */
const maxOutputBytes = 64 * 1024 * 1024

/**
 * Runs a git process that connects to a remote, to its end. It follows no redirect, connects to no other host, and its
 * arguments contain no credentials. It ends when the remote is silent for two minutes.
 */
export async function runOnRemote(
  repo: Repository,
  remote: Remote,
  { subcommand, flags, args = [], input }: RemoteCommand,
  { timeoutMs, maxBytes }: RemoteLimits,
): Promise<{ readonly stdout: string } | RemoteFailure> {
  const { url, env } = reach(remote)
  const child = await repo.start(subcommand, {
    flags,
    args: [url, ...args],
    env,
    lane: 'transfer',
    // A quarantined repository would start it without a slot, which only processes of a push may do.
    nested: false,
    timeoutMs,
    stdin: input !== undefined,
  })
  if (input !== undefined) child.end(input)
  let tooLarge = false
  const isTooLarge = async () =>
    maxBytes < Number.POSITIVE_INFINITY && (await repositorySize(repo.objectDir)) > maxBytes
  const look = async () => {
    if (!(await isTooLarge())) return
    tooLarge = true
    child.kill()
  }
  // A failed check is ignored, because the final one decides.
  const checking = setInterval(() => void look().catch(() => {}), lookEveryMs)
  try {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of child as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxOutputBytes) {
        tooLarge = true
        child.kill()
      } else chunks.push(chunk)
    }
    const exit = await child.done
    const { code, signal, stderr, timedOut } = exit
    const stdout = Buffer.concat(chunks).toString('utf8')
    if (tooLarge || (await isTooLarge())) return { failed: 'too_large', output: stderr, stdout }
    if (timedOut) return { failed: 'too_slow', output: stderr, stdout }
    // A signal says nothing about the remote, except SIGPIPE, which follows a closed connection.
    if (signal !== null && signal !== 'SIGPIPE') throw new Error(`git ${subcommand} was ended by ${signal}`)
    if (code !== 0 && isDiskFull(stderr)) throw gitFailure(subcommand, exit)
    return code === 0 ? { stdout } : { failed: 'refused', output: stderr, stdout }
  } finally {
    clearInterval(checking)
  }
}

/** The URL for git, and the environment with its settings. */
function reach({ url, credentials, pinned }: Remote): { url: string; env: Record<string, string> } {
  const isGit = url.startsWith('git:')
  const settings: (readonly [string, string])[] = [
    ['http.followRedirects', 'false'],
    // The remote must not name further hosts.
    ['transfer.bundleURI', 'false'],
    ['promisor.acceptFromServer', 'none'],
    // Syncs objects only: refs are packed and synced at the end.
    ['core.fsync', 'committed'],
    // Harmless errors of old tools that occur in many histories.
    ['fetch.fsck.badTimezone', 'ignore'],
    ['fetch.fsck.missingSpaceBeforeDate', 'ignore'],
    ['fetch.fsck.zeroPaddedFilemode', 'ignore'],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', '120'],
    ['credential.helper', ''],
  ]
  if (credentials) settings.push(['http.extraHeader', `Authorization: Basic ${basicOf(credentials)}`])
  if (!isGit && pinned)
    settings.push(['http.curloptResolve', `${pinned.host}:${pinned.port}:${inBrackets(pinned.address)}`])
  const env = {
    ...settingsEnv(settings),
    GIT_ALLOW_PROTOCOL: 'http:https:git',
    ...(isGit && pinned && { GIT_OVERRIDE_VIRTUAL_HOST: `${pinned.host}:${pinned.port}` }),
  }
  if (!isGit || !pinned) return { url, env }
  const at = new URL(url)
  return { url: `git://${inBrackets(pinned.address)}:${pinned.port}${at.pathname}`, env }
}

/** Credentials as HTTP sends them. */
export const basicOf = ({ username, password }: NonNullable<Remote['credentials']>): string =>
  Buffer.from(`${username}:${password}`).toString('base64')

const inBrackets = (address: string) => (address.includes(':') ? `[${address}]` : address)
