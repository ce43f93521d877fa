import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { tagName, tagRef } from '../../../git/format/ref-name.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { formatSignatureTime } from '../../../git/objects/signature.ts'
import { readTag } from '../../../git/objects/tags.ts'
import { listRefTips, type RefOrder, type RefTip, readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { dequeue, enqueue } from '../../../jobs/job.ts'
import { conflict, Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { withoutTrailing } from '../../../kernel/without-ends.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { ifReadable } from '../../pushes/index.ts'
import { searchNames } from '../branches/ref-search.ts'
import { deleteRef } from '../commits/delete-ref.ts'
import { createTagIfMissing, type NewTag, requireTagName } from '../commits/new-tag.ts'
import { endRelease } from '../releases/end-release.ts'
import { endReleaseAfterMs, endReleaseOfDeletedTag } from '../releases/jobs.ts'
import { addNotes, editNotes } from '../releases/notes.ts'
import { findReleaseId, type NotesRow } from '../releases/queries.ts'
import type { TagRow } from './entity.ts'

export const nameOfTag = ({ name }: RefTip): string => tagName(name) ?? name

/** All tags that match a search. The array is cached: do not modify it. */
export async function findTags(
  repo: Repository,
  search: string | undefined,
  order: RefOrder,
): Promise<readonly RefTip[]> {
  const all = await listRefTips(repo, 'refs/tags/', { order, broken: 'list' })
  return search ? searchNames(all, search, nameOfTag) : all
}

/** A tag with its commit. Concurrent calls share one round trip. */
async function tagRow(
  ctx: Ctx,
  repo: Repository,
  project: ProjectSubject,
  { name, oid }: { readonly name: string; readonly oid: Oid },
): Promise<TagRow> {
  const [tag, commit] = await Promise.all([
    ifReadable(ctx, readTag(repo, oid), undefined),
    ifReadable(ctx, readCommit(repo, oid), undefined),
  ])
  return { name, message: tag ? withoutTrailing(tag.message, '\n') : null, target: oid, commit, project }
}

/** The tags of a page: one round trip. */
export const tagRows = (
  ctx: Ctx,
  repo: Repository,
  project: ProjectSubject,
  refs: readonly RefTip[],
): Promise<TagRow[]> =>
  Promise.all(refs.map((ref) => tagRow(ctx, repo, project, { name: nameOfTag(ref), oid: ref.oid })))

async function findTagRef(repo: Repository, name: string): Promise<RefTip | undefined> {
  const ref = tagRef(name)
  const oid = ref && (await readRef(repo, ref))
  return ref && oid && { name: ref, oid }
}

/** A tag; throws `not_found` if there is none of this name. Two round trips. */
export async function getTag(ctx: Ctx, project: ProjectSubject, name: string): Promise<TagRow> {
  const repo = openRepository(ctx, project)
  const found = await findTagRef(repo, name)
  if (!found) throw notFound('Tag')
  return tagRow(ctx, repo, project, { name, oid: found.oid })
}

/** Commit time of a tag; `undefined` if it does not exist, or has no commit that can be read. */
export async function tagChangedAt(ctx: Ctx, project: ProjectSubject, name: string): Promise<string | undefined> {
  const repo = openRepository(ctx, project)
  const found = await ifReadable(ctx, findTagRef(repo, name), undefined)
  const commit = found && (await ifReadable(ctx, readCommit(repo, found.oid), undefined))
  return commit && formatSignatureTime(commit.committer)
}

/** Creates a tag at `ref`, with release notes. Of two concurrent requests one succeeds. */
export async function createTag(
  ctx: Ctx,
  project: ProjectSubject,
  input: NewTag & { readonly release_description?: string },
): Promise<TagRow> {
  const name = input.tag_name
  requireTagName(name)
  const description = input.release_description?.trim() ? input.release_description : undefined
  // Release notes that remain of a tag deleted through git are about another commit. Later ones are about this tag.
  const outdated = description === undefined ? undefined : await findReleaseId(ctx.db, project.id, name)
  const oid = await createTagIfMissing(ctx, project, input)
  if (!oid) throw invalid(`Tag ${name} already exists`)
  if (description !== undefined)
    await ctx.transaction(async (tx) => {
      if (outdated !== undefined)
        await endRelease(tx, { projectId: project.id, actorId: ctx.actor!.id }, name, outdated)
      await addNotes(tx, ctx, project, name, description)
    })
  return tagRow(ctx, openRepository(ctx, project), project, { name, oid })
}

/**
 * Deletes a tag with its release notes, even if it moves in the meantime, provided that it satisfies `requireUnmodified`. If a crash
 * prevents it from deleting the notes, a job does.
 */
export async function deleteTag(
  ctx: Ctx,
  project: ProjectSubject,
  name: string,
  requireUnmodified: () => Promise<void>,
): Promise<void> {
  const repo = openRepository(ctx, project)
  // Before the tag is gone: a concurrent request may create it again, with other release notes.
  const release = await findReleaseId(ctx.db, project.id, name)
  const ref = tagRef(name)
  const remove = async () => ref !== undefined && (await deleteRef(ctx, project, repo, ref, requireUnmodified))
  if (release === undefined) {
    if (!(await remove())) throw notFound('Tag')
    return
  }
  // A request that repeats one that was interrupted leaves the job of that one.
  if (!(await findTagRef(repo, name))) throw notFound('Tag')
  const by = { projectId: project.id, actorId: ctx.actor!.id }
  const later = { ...by, tag: name, releaseId: release }
  ctx.outside?.prepare()
  await ctx.transaction((tx) => enqueue(tx, endReleaseOfDeletedTag, later, endReleaseAfterMs))
  const isRemoved = await remove().catch(async (error: unknown) => {
    // A refused deletion ends here, so that the notes stay if the tag is deleted through git soon.
    if (error instanceof Failure && error.kind !== 'unavailable')
      await ctx.transaction((tx) => dequeue(tx, endReleaseOfDeletedTag, later))
    throw error
  })
  // Another request has just deleted it; its notes are deleted by that one, or by the job.
  if (!isRemoved) throw notFound('Tag')
  await ctx.transaction(async (tx) => {
    await endRelease(tx, by, name, release)
    await dequeue(tx, endReleaseOfDeletedTag, later)
  })
}

/** Adds release notes to a tag that has none. */
export async function addRelease(
  ctx: Ctx,
  project: ProjectSubject,
  tag: string,
  description: string,
): Promise<NotesRow> {
  await requireTag(ctx, project, tag)
  await ctx.transaction(async (tx) => {
    if (!(await addNotes(tx, ctx, project, tag, description))) throw conflict('Release already exists')
  })
  return { tag, description }
}

/** Changes the release notes of a tag. */
export async function editRelease(
  ctx: Ctx,
  project: ProjectSubject,
  tag: string,
  description: string,
): Promise<NotesRow> {
  await requireTag(ctx, project, tag)
  await editNotes(ctx, project, tag, description)
  return { tag, description }
}

async function requireTag(ctx: Ctx, project: ProjectSubject, tag: string): Promise<void> {
  if (!(await findTagRef(openRepository(ctx, project), tag))) throw notFound('Tag')
}
