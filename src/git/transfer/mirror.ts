import { parseRefName } from '../format/ref-name.ts'
import { listRefs, type Ref } from '../refs/refs.ts'
import type { Repository } from '../repository/repository.ts'
import { settingsEnv } from '../runner/environment.ts'
import { gitFailure, isDiskFull } from '../runner/git-error.ts'
import { packRefs, repositorySize } from './maintenance.ts'

/** A repository elsewhere, and how it is reached. */
export type Remote = {
  /** Without credentials: other processes see it. */
  readonly url: string
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** The only address that its host may stand for. */
  readonly pinned?: { readonly host: string; readonly port: number; readonly address: string } | undefined
}

export type MirrorLimits = { readonly timeoutMs: number; readonly maxBytes: number }

/** Why nothing came; `told` is what git said. Anything that is no answer of the other side is thrown. */
export type MirrorFailure = { readonly failed: 'refused' | 'too_slow' | 'too_large'; readonly told: string }

export type Mirrored = { readonly refs: readonly Ref[]; readonly defaultBranch: string | undefined }

const lookEveryMs = 2000

/**
 * Fetches branches and tags of a repository elsewhere into an empty one, and asks for its default branch. Follows no
 * redirect. Two connections, one after the other.
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

/** The address to give to git, and what it must be told beside it. */
function reach({ url, credentials, pinned }: Remote): { url: string; env: Record<string, string> } {
  const isGit = url.startsWith('git:')
  const settings: (readonly [string, string])[] = [
    ['http.followRedirects', 'false'],
    // The other side may name no further hosts.
    ['transfer.bundleURI', 'false'],
    ['promisor.acceptFromServer', 'none'],
    // Objects only: refs are packed, and flushed, at the end.
    ['core.fsync', 'committed'],
    // Flaws of old tools that harm nobody and are in the history of many.
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
  // Whatever keeps us from looking keeps us from looking at the end, too, which tells.
  const looking = setInterval(() => void look().catch(() => {}), lookEveryMs)
  try {
    let stdout = ''
    for await (const chunk of child as AsyncIterable<Buffer>)
      if (stdout.length < maxAnswerBytes) stdout += chunk.toString('utf8')
    const { code, signal, stderr, timedOut } = await child.done
    if (tooLarge || (await repositorySize(repo.gitDir)) > maxBytes) return { failed: 'too_large', told: stderr }
    if (timedOut) return { failed: 'too_slow', told: stderr }
    // A signal tells nothing of the other side, which may only have closed the connection.
    if (signal !== null && signal !== 'SIGPIPE') throw new Error(`git ${subcommand} was ended by ${signal}`)
    if (code !== 0 && isDiskFull(stderr)) throw gitFailure(subcommand, { code, signal, stderr })
    return code === 0 ? { stdout } : { failed: 'refused', told: stderr }
  } finally {
    clearInterval(looking)
  }
}
