import type { Ctx } from '../../../api/ctx.ts'
import { branchName, branchRef, type RefName } from '../../../git/format/ref-name.ts'
import { listRemoteRefs, pushToRemote } from '../../../git/transfer/mirror.ts'
import type { Remote, RemoteFailure } from '../../../git/transfer/remote.ts'
import { openRepository, type ProjectSubject, projectOnBehalf } from '../../projects/index.ts'
import { loadProtections } from '../../pushes/index.ts'
import { localRefs } from '../remotes/local-refs.ts'
import { reachRemote } from '../remotes/reach.ts'
import { RemoteRefusal, sentenceFor, withoutCredentials } from '../remotes/refusal.ts'
import { mirrorTimeoutMs } from '../remotes/schedule.ts'
import { planPush } from './plan-push.ts'
import { targetPurpose } from './purpose.ts'
import { findPendingPush, type PendingPush } from './queries.ts'
import { targetRules } from './rules.ts'

type Target = { readonly projectId: number; readonly mirrorId: number }

const limits = { timeoutMs: mirrorTimeoutMs, maxBytes: Number.POSITIVE_INFINITY }

/** Result of an update. `retries`: it failed for a reason that may pass. */
export type PushOutcome = { readonly error: string | null; readonly retries: boolean }

/**
 * Makes a remote repository equal to the project. Safe to interrupt and repeat. Undefined, with nothing sent, if the mirror was disabled or
 * deleted meanwhile. Throws `RemoteRefusal` if the user who set up the mirror may no longer do so, or if the remote is of no use.
 */
export async function sendToMirror(
  ctx: Ctx,
  { projectId, mirrorId }: Target,
  begun: PendingPush,
): Promise<PushOutcome | undefined> {
  const { user: lister, project: listed } = await mirrorUser(ctx, projectId, begun)
  const remote = await reachRemote(ctx, ctx.secrets.open(begun.sealed_url, targetPurpose(mirrorId)), targetRules)
  const repo = openRepository(lister, listed)
  const there = await listRemoteRefs(repo, remote, limits)
  if ('failed' in there) throw refuse(there, remote)
  // The listing may have taken long: what is sent depends on the mirror as it is now.
  const mirror = await findPendingPush(ctx.db, mirrorId)
  if (!mirror) return undefined
  const { user, project } = await mirrorUser(ctx, projectId, mirror)
  const local = await localRefs(repo)
  const main = project.default_branch === null ? undefined : branchRef(project.default_branch)
  const { updates, diverged } = await planPush(
    repo,
    { local, remote: there.refs, main: main && local.get(main) },
    { follows: await followed(user, project, mirror.only_protected_branches), keep: mirror.keep_divergent_refs },
  )
  const pushed = await pushToRemote(repo, remote, updates, limits)
  if ('failed' in pushed) throw refuse(pushed, remote)
  const refused = [...pushed.refused].map(([name, reason]) => `${name}: ${withoutCredentials(reason, remote)}`)
  const error = [
    ...sentence('Some references were refused by the remote repository:', refused),
    ...sentence('Some refs have diverged and have not been updated on the remote:', diverged),
  ].join('\n')
  return { error: error === '' ? null : error, retries: refused.length > 0 }
}

/** The user who set up a mirror, and may do so now, and the project. Throws `RemoteRefusal` otherwise. */
async function mirrorUser(
  ctx: Ctx,
  projectId: number,
  { user_id }: PendingPush,
): Promise<{ readonly user: Ctx; readonly project: ProjectSubject }> {
  const permitted = await projectOnBehalf(ctx, user_id, projectId, 'admin_mirror')
  if (!permitted) throw new RemoteRefusal('The user who set up the mirror is no longer allowed to do so.')
  return permitted
}

const refuse = (failure: RemoteFailure, remote: Remote): RemoteRefusal =>
  new RemoteRefusal(
    sentenceFor(failure, { what: 'update of the mirror', remote, timeoutMs: mirrorTimeoutMs, maxMegabytes: 0 }),
  )

/** Whether the mirror gets a ref: all tags, and all or only protected branches. */
async function followed(
  user: Ctx,
  project: ProjectSubject,
  onlyProtected: boolean,
): Promise<(name: RefName) => boolean> {
  if (!onlyProtected) return () => true
  const protections = await loadProtections(user, project)
  return (name) => {
    const branch = branchName(name)
    return branch === undefined || protections.isProtected('branch', branch)
  }
}

/** Refs that a message names; the others are counted. */
const shownRefs = 5

const sentence = (title: string, refs: readonly string[]): string[] =>
  refs.length === 0
    ? []
    : [title, ...refs.slice(0, shownRefs), ...(refs.length > shownRefs ? [`and ${refs.length - shownRefs} more`] : [])]
