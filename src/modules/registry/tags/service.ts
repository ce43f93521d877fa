import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { conflict, invalid, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { claimBulkDeletion, lockRepository, type RepositoryRow } from '../images/queries.ts'
import { type ContentDigest, parsePrefixedDigest } from '../names/digests.ts'
import { isTagName, pathOf } from '../names/names.ts'
import { deleteTagsInBulk } from './jobs.ts'
import { deleteTags, findTag, lastNamed, manifestOfTag, reviveManifest, setTag, type TagDetailRow } from './queries.ts'
import { recordDeletion } from './record-deletion.ts'
import { requirePatterns } from './selection.ts'

const tagNotFound = () => notFound('Tag')

/** A name that no tag can have is one that no tag has. */
export async function getTag(ctx: Ctx, repository: RepositoryRow, name: string): Promise<TagDetailRow> {
  const tag = isTagName(name) ? await findTag(ctx.db, repository.id, name) : undefined
  if (!tag) throw tagNotFound()
  return tag
}

/** Deletes one tag. Other tags of its image stay. */
export async function deleteTag(ctx: Ctx, repository: RepositoryRow, name: string): Promise<void> {
  if (!isTagName(name)) throw tagNotFound()
  await ctx.transaction(async (tx) => {
    const locked = await lockRepository(tx, repository.id)
    if (locked === undefined) throw rowNotFound()
    const gone = await deleteTags(tx, locked, [name])
    if (gone.length === 0) throw tagNotFound()
    await recordDeletion(tx, accountOf(ctx.actor!), repository, gone)
  })
}

/**
 * Makes a tag name again what it named before it was deleted or moved, within the retention time: the last one, or the manifest with
 * this digest. What it names now can be restored in turn.
 */
export async function restoreTag(
  ctx: Ctx,
  repository: RepositoryRow,
  name: string,
  digest: string | undefined,
): Promise<TagDetailRow> {
  const named = digest === undefined ? undefined : parsePrefixedDigest(digest)
  if (digest !== undefined && named === undefined) throw invalid('digest is invalid')
  if (!isTagName(name)) throw tagNotFound()
  await ctx.transaction((tx) => restoreIn(ctx, tx, repository, name, named))
  return getTag(ctx, repository, name)
}

async function restoreIn(
  ctx: Ctx,
  tx: Tx,
  repository: RepositoryRow,
  name: string,
  digest: ContentDigest | undefined,
): Promise<void> {
  const locked = await lockRepository(tx, repository.id)
  if (locked === undefined) throw rowNotFound()
  if (digest === undefined && (await manifestOfTag(tx, locked, name)) !== undefined)
    throw conflict('The tag exists; name the digest of the manifest to restore')
  const manifestId = await lastNamed(tx, locked, name, digest, ctx.settings.container_registry_retention_days)
  if (manifestId === undefined) throw tagNotFound()
  await reviveManifest(tx, manifestId)
  await setTag(tx, locked, name, manifestId)
  await emit(tx, {
    kind: 'container_tag_restored',
    projectId: repository.project_id,
    actorId: accountOf(ctx.actor!),
    payload: { repository_id: repository.id, tag: name },
    facts: { path: pathOf(repository.full_path, repository.name) },
  })
}

export type BulkDeletion = {
  name_regex: string
  name_regex_delete?: string | undefined
  name_regex_keep?: string | null | undefined
  keep_n?: number | null | undefined
  older_than?: string | null | undefined
}

/** Schedules the deletion of the tags that match, which may be requested once an hour for a repository. */
export async function scheduleBulkDeletion(ctx: Ctx, repository: RepositoryRow, asked: BulkDeletion): Promise<void> {
  const { name_regex, name_regex_delete, name_regex_keep, keep_n, older_than } = asked
  requirePatterns({ name_regex, name_regex_delete, name_regex_keep })
  await ctx.transaction(async (tx) => {
    const locked = await lockRepository(tx, repository.id)
    if (locked === undefined) throw rowNotFound()
    if (!(await claimBulkDeletion(tx, locked)))
      throw invalid(
        'This request has already been made. You can run this at most once an hour for a given container repository',
      )
    await enqueue(tx, deleteTagsInBulk, {
      repositoryId: repository.id,
      projectId: repository.project_id,
      actorId: accountOf(ctx.actor!),
      nameRegex: name_regex_delete ?? name_regex,
      keepRegex: name_regex_keep ?? null,
      keepN: keep_n ?? null,
      olderThan: older_than ?? null,
    })
  })
}
