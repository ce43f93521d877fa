import { parseRefName } from '../format/ref-name.ts'
import { listRefs, type Ref } from '../refs/refs.ts'
import type { Repository } from '../repository/repository.ts'
import { settingsEnv } from '../runner/environment.ts'
import { gitFailure, isDiskFull } from '../runner/git-error.ts'
import { packRefs, repositorySize } from './maintenance.ts'

/** A remote repository and how to reach it. */
export type Remote = {
  /** Without credentials: other processes can see it. */
  readonly url: string
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** The only address to which the host may resolve. */
  readonly pinned?: { readonly host: string; readonly port: number; readonly address: string } | undefined
}

export type MirrorLimits = { readonly timeoutMs: number; readonly maxBytes: number }

/** Why the mirror failed; `told` is git's output. Failures that the remote did not cause are thrown. */
export type MirrorFailure = { readonly failed: 'refused' | 'too_slow' | 'too_large'; readonly told: string }

export type Mirrored = { readonly refs: readonly Ref[]; readonly defaultBranch: string | undefined }

const lookEveryMs = 2000

/**
 * Fetches branches and tags of a remote repository into an empty one, and its default branch. Follows no redirects. Two
 * connections, one after the other.
 */
export async function mirror(
  repo: Repository,
  remote: Remote,
  limits: MirrorLimits,
): Promise<Mirrored | MirrorFailure> {
  const { url, env } = reach(remote)
  const head = await runToEnd(repo, 'ls-remote', ['--symref'], [url, 'HEAD'], env, limits)
  if ('failed' in head) return head
  const fetched = await runToEnd(
    repo,
    'fetch',
    ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-show-forced-updates'],
    [url, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'],
    env,
    limits,
  )
  if ('failed' in fetched) return fetched
  await packRefs(repo)
  const name = parseRefName(/^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(head.stdout)?.[1] ?? '')
  return { refs: await listRefs(repo, ['refs/heads/', 'refs/tags/']), defaultBranch: name?.slice('refs/heads/'.length) }
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
  if (credentials) {
    const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
    settings.push(['http.extraHeader', `Authorization: Basic ${basic}`])
  }
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

const inBrackets = (address: string) => (address.includes(':') ? `[${address}]` : address)

const maxAnswerBytes = 1024 * 1024

async function runToEnd(
  repo: Repository,
  subcommand: 'ls-remote' | 'fetch',
  flags: readonly `-${string}`[],
  args: readonly string[],
  env: Record<string, string>,
  { timeoutMs, maxBytes }: MirrorLimits,
): Promise<{ stdout: string } | MirrorFailure> {
  const child = await repo.start(subcommand, { flags, args, env, lane: 'transfer', timeoutMs })
  let tooLarge = false
  const look = async () => {
    if ((await repositorySize(repo.gitDir)) <= maxBytes) return
    tooLarge = true
    child.kill()
  }
  // A failed check is ignored, because the final one decides.
  const checking = setInterval(() => void look().catch(() => {}), lookEveryMs)
  try {
    let stdout = ''
    for await (const chunk of child as AsyncIterable<Buffer>)
      if (stdout.length < maxAnswerBytes) stdout += chunk.toString('utf8')
    const { code, signal, stderr, timedOut } = await child.done
    if (tooLarge || (await repositorySize(repo.gitDir)) > maxBytes) return { failed: 'too_large', told: stderr }
    if (timedOut) return { failed: 'too_slow', told: stderr }
    // A signal says nothing about the remote, except SIGPIPE, which follows a closed connection.
    if (signal !== null && signal !== 'SIGPIPE') throw new Error(`git ${subcommand} was ended by ${signal}`)
    if (code !== 0 && isDiskFull(stderr)) throw gitFailure(subcommand, { code, signal, stderr })
    return code === 0 ? { stdout } : { failed: 'refused', told: stderr }
  } finally {
    clearInterval(checking)
  }
}
