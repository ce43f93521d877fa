import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, branchRef, type RefName, tagName, tagRef } from '../../../git/format/ref-name.ts'
import { objectInfos } from '../../../git/objects/cat-file.ts'
import { inScratch } from '../../../git/objects/scratch.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { GitError } from '../../../git/runner/git-error.ts'
import { copyReachable } from '../../../git/transfer/copy.ts'
import { fetchObjects, listRemoteRefs, type RemoteRefs } from '../../../git/transfer/mirror.ts'
import type { RemoteFailure } from '../../../git/transfer/remote.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadProject, openForWriting, type ProjectSubject } from '../../projects/index.ts'
import { loadProtections } from '../../pushes/index.ts'
import { importRules } from '../imports/rules.ts'
import { localRefs } from '../remotes/local-refs.ts'
import { reachRemote } from '../remotes/reach.ts'
import { RemoteRefusal, sentenceFor } from '../remotes/refusal.ts'
import { mirrorTimeoutMs } from '../remotes/schedule.ts'
import { compareRefs, type Divergence } from './compare-refs.ts'
import { moveAllowed, permittedChanges, type Refused } from './move-allowed.ts'
import { mirrorPurpose } from './purpose.ts'
import { isUnchanged, type PendingUpdate } from './queries.ts'
import type { Outcome } from './settle.ts'

const mebibyte = 1024 * 1024

/**
 * Updates branches and tags of a mirror as pushes of its user. New objects enter the repository only after the push rules have
 * accepted them. Safe to interrupt and repeat. Throws `RemoteRefusal` if the user may not push or the source is of no use.
 */
export async function followSource(ctx: Ctx, projectId: number, mirror: PendingUpdate): Promise<Outcome> {
  const { user, project } = await mirrorUser(ctx, projectId, mirror)
  const remote = await reachRemote(ctx, ctx.secrets.open(mirror.sealed_url, mirrorPurpose(projectId)), importRules)
  const maxMegabytes = ctx.settings.max_import_size
  const limits = {
    timeoutMs: mirrorTimeoutMs,
    maxBytes: maxMegabytes === 0 ? Number.POSITIVE_INFINITY : maxMegabytes * mebibyte,
  }
  const refuse = (failure: RemoteFailure): RemoteRefusal =>
    new RemoteRefusal(
      sentenceFor(failure, { what: 'update of the mirror', remote, timeoutMs: mirrorTimeoutMs, maxMegabytes }),
    )
  const repo = await openForWriting(user, project)
  return inScratch(repo, async (scratch) => {
    const source = await listRemoteRefs(scratch, remote, limits)
    if ('failed' in source) throw refuse(source)
    const local = await localRefs(repo)
    const followed = await followedRefs(user, project, source, mirror.only_protected_branches)
    const different = followed.filter(([name, oid]) => local.get(name) !== oid)
    if (different.length === 0) return { error: null, failed: false }
    const names = different.map(([name]) => name)
    const failure = await fetchObjects(scratch, remote, names, limits)
    if (failure) throw refuse(failure)
    // The fetch may have taken long. A mirror that was changed in the meantime has another update in the queue.
    if (!(await isUnchanged(ctx.db, projectId, mirror))) return { error: null, failed: false }
    await mirrorUser(ctx, projectId, mirror)
    const { changes, diverged } = await compareRefs(scratch, local, await present(scratch, different), {
      overwrite: mirror.overwrites_diverged,
    })
    const permitted = await permittedChanges(user, projectId, changes, scratch)
    if (permitted.changes.length > 0) await store(ctx, scratch, repo, permitted.changes, local)
    const refused = await moveAllowed(user, project, repo, mainFirst(permitted.changes, source, project), {
      options: mirror.triggers_builds ? [] : ['ci.skip'],
    })
    return { error: errorOf(project, diverged, [...permitted.refused, ...refused]), failed: false }
  })
}

/** The user of a mirror, who may act and push now, and the project. Throws `RemoteRefusal` otherwise. */
async function mirrorUser(
  ctx: Ctx,
  projectId: number,
  { user_id }: PendingUpdate,
): Promise<{ readonly user: Ctx; readonly project: ProjectSubject }> {
  const user = user_id === null ? undefined : await asAccount(ctx, user_id)
  if (!user) throw new RemoteRefusal('The user of the mirror was deleted or is blocked.')
  const project = await loadProject(String(projectId), user)
  if (!project || !allows(projectPolicy.push_code, user.actor, project.facts))
    throw new RemoteRefusal('The user of the mirror is not allowed to push to this project.')
  return { user, project }
}

/** Copies what the changes need from the temporary folder. A source may lack objects, such as a shallow clone. */
async function store(
  ctx: Ctx,
  scratch: Repository,
  repo: Repository,
  changes: readonly RefChange[],
  local: ReadonlyMap<RefName, Oid>,
): Promise<void> {
  const wanted = changes.flatMap(({ to }) => to ?? [])
  await copyReachable(scratch, repo, wanted, [...local.values()]).catch((error: unknown) => {
    // A signal means that this process is stopping too: the next run repeats the update.
    if (!(error instanceof GitError) || error.signal !== null) throw error
    ctx.log.error({ err: error }, 'failed to store what a mirror fetched')
    throw new RemoteRefusal('The source does not have all objects of its branches and tags.')
  })
}

/** The refs of the source that the mirror updates. Names that git accepts only in a push are left out. */
async function followedRefs(
  user: Ctx,
  project: ProjectSubject,
  { refs }: RemoteRefs,
  onlyProtected: boolean,
): Promise<(readonly [RefName, Oid])[]> {
  const protections = onlyProtected ? await loadProtections(user, project) : undefined
  return [...refs].filter(([ref]) => {
    const [branch, tag] = [branchName(ref), tagName(ref)]
    if (tag !== undefined) return tagRef(tag) !== undefined
    if (branch === undefined || branchRef(branch) === undefined) return false
    return protections?.isProtected('branch', branch) ?? true
  })
}

/** The refs whose objects were fetched: one that the source moved in the meantime waits for the next update. */
async function present(
  scratch: Repository,
  refs: readonly (readonly [RefName, Oid])[],
): Promise<readonly (readonly [RefName, Oid])[]> {
  const objects = await scratch.objects()
  const found = await objectInfos(
    objects,
    refs.map(([, oid]) => oid),
  )
  return refs.filter((_, index) => found[index] !== undefined)
}

/** The default branch of the source comes first in an empty project, and so becomes its default branch. */
function mainFirst(
  changes: readonly RefChange[],
  { defaultBranch }: RemoteRefs,
  project: ProjectSubject,
): readonly (readonly RefChange[])[] {
  if (project.default_branch !== null) return [changes]
  const isMain = ({ name }: RefChange) => branchName(name) === defaultBranch
  return [changes.filter(isMain), changes.filter((change) => !isMain(change))]
}

/** Refs that a message names; the others are counted. */
const shownRefs = 5

/** The error of an update that left refs behind; null if it left only branches that diverged, other than the default one. */
function errorOf(project: ProjectSubject, diverged: readonly Divergence[], refused: readonly Refused[]): string | null {
  const sentences = diverged
    .filter(({ name }) => branchName(name) === project.default_branch)
    .map(
      () =>
        `The default branch (${project.default_branch}) has diverged from its upstream counterpart and could not be updated automatically.`,
    )
  if (refused.length > 0) {
    const shown = refused.slice(0, shownRefs).map(({ name, reason }) => `${name}: ${reason}`)
    const more = refused.length > shownRefs ? [`and ${refused.length - shownRefs} more`] : []
    sentences.push(['Some references were not updated:', ...shown, ...more].join('\n'))
  }
  return sentences.length === 0 ? null : sentences.join('\n')
}
