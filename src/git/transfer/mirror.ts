import type { Oid } from '../format/oid.ts'
import { branchName, parseRefName, type RefName } from '../format/ref-name.ts'
import { listRefs, type Ref } from '../refs/refs.ts'
import type { Repository } from '../repository/repository.ts'
import { packRefs } from './maintenance.ts'
import { type Remote, type RemoteFailure, type RemoteLimits, runOnRemote } from './remote.ts'

export type Mirrored = { readonly refs: readonly Ref[]; readonly defaultBranch: string | undefined }

const fetchFlags = [
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-show-forced-updates',
] as const

/** Without names such as `-x` and `HEAD`, which only pushes and fetches of git accept. */
const branchesAndTags = ['heads', 'tags'].flatMap((kind) => [
  `+refs/${kind}/*:refs/${kind}/*`,
  `^refs/${kind}/-*`,
  `^refs/${kind}/HEAD`,
])

/**
 * Fetches branches and tags of a remote repository into an empty one, and its default branch. Follows no redirects. Two
 * connections, one after the other. `further` are refspecs of refs that are fetched, too, and not returned.
 */
export async function mirror(
  repo: Repository,
  remote: Remote,
  limits: RemoteLimits,
  further: readonly string[] = [],
): Promise<Mirrored | RemoteFailure> {
  const head = await runOnRemote(repo, remote, { subcommand: 'ls-remote', flags: ['--symref'], args: ['HEAD'] }, limits)
  if ('failed' in head) return head
  const fetched = await runOnRemote(
    repo,
    remote,
    { subcommand: 'fetch', flags: fetchFlags, args: [...branchesAndTags, ...further] },
    limits,
  )
  if ('failed' in fetched) return fetched
  await packRefs(repo)
  return { refs: await listRefs(repo, ['refs/heads/', 'refs/tags/']), defaultBranch: defaultBranchIn(head.stdout) }
}

const defaultBranchIn = (listing: string): string | undefined => {
  const name = parseRefName(/^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(listing)?.[1] ?? '')
  return name && branchName(name)
}

/** Branches and tags of a remote, without those whose names git refuses, and its default branch. */
export type RemoteRefs = { readonly refs: ReadonlyMap<RefName, Oid>; readonly defaultBranch: string | undefined }

/** One connection; fetches no objects. */
export async function listRemoteRefs(
  repo: Repository,
  remote: Remote,
  limits: RemoteLimits,
): Promise<RemoteRefs | RemoteFailure> {
  const args = ['HEAD', 'refs/heads/*', 'refs/tags/*']
  const listed = await runOnRemote(repo, remote, { subcommand: 'ls-remote', flags: ['--symref'], args }, limits)
  if ('failed' in listed) return listed
  const refs = new Map<RefName, Oid>()
  for (const [, oid, text] of listed.stdout.matchAll(/^([0-9a-f]{40})\t(refs\/(?:heads|tags)\/.+)$/gm)) {
    const name = parseRefName(text!)
    if (name) refs.set(name, oid as Oid)
  }
  return { refs, defaultBranch: defaultBranchIn(listed.stdout) }
}

/** Fetches what these refs of a remote need, without moving any ref. One connection. */
export async function fetchObjects(
  repo: Repository,
  remote: Remote,
  names: readonly RefName[],
  limits: RemoteLimits,
): Promise<RemoteFailure | undefined> {
  const input = names.map((name) => `${name}\n`).join('')
  const fetched = await runOnRemote(
    repo,
    remote,
    { subcommand: 'fetch', flags: [...fetchFlags, '--stdin'], input },
    limits,
  )
  return 'failed' in fetched ? fetched : undefined
}

/** A change of a remote ref. Without `force` only a fast-forward. `to: null` deletes a ref that is still at `from`. */
export type RemoteUpdate =
  | { readonly name: RefName; readonly to: Oid; readonly force: boolean }
  | { readonly name: RefName; readonly to: null; readonly from: Oid }

/** Refs of one connection, so that arguments stay below the limit of the system. */
const refsPerPush = 400

/** Further connections that look for the refs for which a remote refuses all of a push. */
const maxFurtherPushes = 40

/**
 * Pushes to a remote. Returns the refs that it refused, each with the reason. A hook of the remote refuses all refs of a push for one of
 * them, so these are pushed again by halves.
 */
export async function pushToRemote(
  repo: Repository,
  remote: Remote,
  updates: readonly RemoteUpdate[],
  limits: Omit<RemoteLimits, 'maxBytes'>,
): Promise<{ readonly refused: ReadonlyMap<string, string> } | RemoteFailure> {
  const refused = new Map<string, string>()
  const waiting: (readonly RemoteUpdate[])[] = []
  for (let at = 0; at < updates.length; at += refsPerPush) waiting.push(updates.slice(at, at + refsPerPush))
  let further = maxFurtherPushes
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    const pushed = await pushOnce(repo, remote, part, limits)
    if ('failed' in pushed) return pushed
    if (part.length > 1 && pushed.length === part.length && further >= 2) {
      further -= 2
      const half = part.length >> 1
      waiting.push(part.slice(0, half), part.slice(half))
    } else for (const { name, reason } of pushed) refused.set(name, reason)
  }
  return { refused }
}

const pushFlags = ['--porcelain', '--no-verify', '--no-signed', '--recurse-submodules=no'] as const

type RefusedRef = { readonly name: string; readonly reason: string }

/** One connection. */
async function pushOnce(
  repo: Repository,
  remote: Remote,
  updates: readonly RemoteUpdate[],
  limits: Omit<RemoteLimits, 'maxBytes'>,
): Promise<readonly RefusedRef[] | RemoteFailure> {
  const leases = updates.flatMap((update) =>
    update.to === null ? [`--force-with-lease=${update.name}:${update.from}` as const] : [],
  )
  const args = updates.map((update) =>
    update.to === null ? `:${update.name}` : `${update.force ? '+' : ''}${update.to}:${update.name}`,
  )
  const pushed = await runOnRemote(
    repo,
    remote,
    { subcommand: 'push', flags: [...pushFlags, ...leases], args },
    { ...limits, maxBytes: Number.POSITIVE_INFINITY },
  )
  const refused = pushed.stdout.split('\n').flatMap((line) => refusedRef(line) ?? [])
  if (!('failed' in pushed)) return refused
  if (pushed.failed !== 'refused' || refused.length === 0) return pushed
  const said = saidByRemote(pushed.output)
  return refused.map((ref) =>
    ref.reason === 'pre-receive hook declined' && said !== '' ? { ...ref, reason: said } : ref,
  )
}

const maxSaid = 300

/** What a hook of the remote printed, in one line. */
const saidByRemote = (output: string): string =>
  output
    .split('\n')
    .filter((line) => line.startsWith('remote:'))
    .map((line) => line.slice('remote:'.length).trim())
    .filter((said) => said !== '')
    .join(' ')
    .slice(0, maxSaid)

/** A line about a refused ref has `!`, source and target, a summary in square brackets, and the reason in round ones. */
function refusedRef(line: string): RefusedRef | undefined {
  const [, name, reason] = /^!\t[^\t:]*:([^\t]+)\t\[[^\]]*\] ?(.*)$/s.exec(line) ?? []
  return name === undefined ? undefined : { name, reason: reason!.trim().replace(/^\((.*)\)$/s, '$1') }
}
