import { nullOid, type Oid, parseOid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { countCommits, listCommits } from '../../../git/history/history.ts'
import { type Commit, readCommit } from '../../../git/objects/commits.ts'
import { readTag } from '../../../git/objects/tags.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { ifReadable, loadProtected } from '../../pushes/index.ts'
import { PayloadProject, userOf } from './blocks.ts'
import { movedRefs, tipAfterPush } from './queries.ts'
import { recordedRefs } from './recorded-queries.ts'
import type { PayloadCtx } from './shown.ts'
import { type Builder, idIn, type RecordedEvent } from './source.ts'

/** Commits of a push that its payload shows; and how many are counted. */
const [shownCommits, countedCommits] = [20, 10_000]

export type MovedRef = Awaited<ReturnType<typeof movedRefs>>[number]

/** The branches and tags that a push moved, each with its short name. */
export async function refsOfPush(ctx: PayloadCtx, event: RecordedEvent) {
  const found = await movedRefs(ctx.db, idIn(event.payload, 'push_id'))
  // The push goes with its project.
  const moved = found.length > 0 ? found : await recordedRefs(ctx, event.id)
  const of = (folder: string) =>
    moved.flatMap((change, part) =>
      change.name.startsWith(folder) ? [{ change, part, short: change.name.slice(folder.length) }] : [],
    )
  return { moved, branches: of('refs/heads/'), tags: of('refs/tags/') }
}

const pusherOf = async (ctx: PayloadCtx, event: RecordedEvent) => {
  const user = await userOf(ctx, event.actor_id)
  return {
    user_id: user.id,
    user_name: user.name,
    user_username: user.username,
    user_email: user.email,
    user_avatar: user.avatar_url,
  }
}

/** The new commits of a branch, oldest first and the newest of them only, with their total number. */
async function newCommits(
  ctx: PayloadCtx,
  project: PayloadProject,
  { name, from, to }: MovedRef,
  pushId: number,
): Promise<{ commits: Commit[]; total: number }> {
  const repo = project.repository
  const [before, after] = [from && parseOid(from), to && parseOid(to)]
  if (!after || !(await readCommit(repo, after))) return { commits: [], total: 0 }
  const known = before
    ? await existing(repo, before)
    : await ifReadable(ctx, tipOfDefault(ctx, project, { ref: name, pushId }), undefined)
  const range = { from: [after], ...(known && { excluding: [known] }) }
  const total = await countCommits(repo, range, { atMost: countedCommits })
  const commits = await listCommits(repo, range, { limit: shownCommits })
  return { commits: commits.reverse(), total }
}

const existing = async (repo: Repository, oid: Oid) => ((await readCommit(repo, oid)) ? oid : undefined)

/** The commits that the default branch had after the push are not new in another branch. */
async function tipOfDefault(
  ctx: PayloadCtx,
  { row, repository }: PayloadProject,
  { ref, pushId }: { ref: string; pushId: number },
): Promise<Oid | undefined> {
  const main = row.default_branch === null ? undefined : branchRef(row.default_branch)
  if (main === undefined || main === ref) return undefined
  const then = await tipAfterPush(ctx.db, { projectId: row.id, pushId, ref: Buffer.from(main) })
  if (then === undefined) return readRef(repository, main)
  const tip = then === null ? undefined : parseOid(then)
  return tip && ((await existing(repository, tip)) ?? readRef(repository, main))
}

/** The commit and the annotation of a tag. */
async function tagged(repo: Repository, to: string | null): Promise<{ commit: Commit | undefined; message: string }> {
  const oid = to === null ? undefined : parseOid(to)
  if (!oid) return { commit: undefined, message: '' }
  const tag = await readTag(repo, oid)
  return { commit: await readCommit(repo, tag?.target ?? oid), message: tag?.message.trimEnd() ?? '' }
}

/** Of the changed ref that the part says. */
export const pushPayload: Builder = async (ctx, { event, trigger, part }) => {
  const project = await PayloadProject.load(ctx, event.project_id)
  const change = (await refsOfPush(ctx, event)).moved[part]
  if (!project || !change) return undefined
  const kind = trigger === 'tag_push_events' ? 'tag_push' : 'push'
  const tag = kind === 'tag_push' ? await tagged(project.repository, change.to) : undefined
  const { commits, total } = tag
    ? { commits: tag.commit ? [tag.commit] : [], total: tag.commit ? 1 : 0 }
    : await newCommits(ctx, project, change, idIn(event.payload, 'push_id'))
  const protections = await loadProtected(ctx.db, project.row.id)
  return {
    object_kind: kind,
    event_name: kind,
    before: change.from ?? nullOid,
    after: change.to ?? nullOid,
    ref: change.name,
    ref_protected: protections.isProtected(tag ? 'tag' : 'branch', change.name.replace(/^refs\/(heads|tags)\//, '')),
    checkout_sha: tag ? (tag.commit?.oid ?? null) : change.to,
    message: tag ? tag.message : null,
    ...(await pusherOf(ctx, event)),
    project_id: project.row.id,
    project: project.block,
    commits: await Promise.all(commits.map((commit) => project.commit(commit, true))),
    total_commits_count: total,
    push_options: event.facts['push_options'] ?? {},
    repository: project.longRepositoryBlock,
  }
}

/** Of all changed refs. */
export const repositoryUpdatePayload: Builder = async (ctx, { event }) => {
  const project = await PayloadProject.load(ctx, event.project_id)
  if (!project) return undefined
  const { branches, tags } = await refsOfPush(ctx, event)
  const changes = [...branches, ...tags].map(({ change: { name, from, to } }) => ({
    before: from ?? nullOid,
    after: to ?? nullOid,
    ref: name,
  }))
  const { user_username, ...pusher } = await pusherOf(ctx, event)
  return {
    event_name: 'repository_update',
    ...pusher,
    project_id: project.row.id,
    project: project.block,
    changes,
    refs: changes.map(({ ref }) => ref),
  }
}
