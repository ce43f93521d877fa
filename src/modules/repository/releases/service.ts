import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { conflict, Failure, invalidFields, notFound } from '../../../kernel/failure.ts'
import { tooLong } from '../../../kernel/violations.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { createTagIfMissing, requireTagName } from '../commits/new-tag.ts'
import { endRelease } from './end-release.ts'
import { insertLinks, type LinkValues } from './link-queries.ts'
import { requireLinks } from './link-service.ts'
import type { MilestonesOfReleases } from './milestones.ts'
import {
  findLatestRelease,
  findRelease,
  insertRelease,
  lockRelease,
  type ReleaseRow,
  updateRelease,
} from './queries.ts'
import { emitReleaseEvent } from './release-event.ts'

const maxNameLength = 255

function requireName(name: string | null | undefined): void {
  if (name && [...name].length > maxNameLength) throw invalidFields({ name: [tooLong(maxNameLength)] })
}

export async function getRelease(ctx: Ctx, project: ProjectSubject, tag: string): Promise<ReleaseRow> {
  const release = await findRelease(ctx.db, project.id, tag)
  if (!release) throw notFound('Release')
  return release
}

/** A release, locked until the transaction ends; throws `not_found` without one. */
export async function lockedRelease(tx: Tx, project: ProjectSubject, tag: string): Promise<ReleaseRow> {
  const id = await lockRelease(tx, project.id, tag)
  const release = id === undefined ? undefined : await findRelease(tx, project.id, tag)
  if (!release) throw notFound('Release')
  return release
}

/** The latest release whose date has passed; throws `not_found` without one. */
export async function getLatestRelease(ctx: Ctx, project: ProjectSubject): Promise<ReleaseRow> {
  const release = await findLatestRelease(ctx.db, project.id)
  if (!release) throw notFound('Release')
  return release
}

export type NewRelease = {
  readonly tag_name: string
  readonly tag_message?: string
  /** Where a missing tag is created. */
  readonly ref?: string
  readonly name?: string
  readonly description?: string
  readonly released_at?: Date
  readonly links: readonly LinkValues[]
  /** Titles of milestones. */
  readonly milestones?: readonly string[]
}

/** Creates a release of a tag, and the tag if it is missing. Of two concurrent requests one succeeds. */
export async function createRelease(
  ctx: Ctx,
  project: ProjectSubject,
  input: NewRelease,
  milestones: MilestonesOfReleases,
): Promise<ReleaseRow> {
  requireName(input.name)
  requireLinks(input.links)
  // Before the tag, which would stay if the release is refused.
  if (input.milestones?.length) await milestones.require(ctx, project, input.milestones)
  const outdated = await ensureTag(ctx, project, input)
  const key = { projectId: project.id, tag: input.tag_name, authorId: ctx.actor!.id }
  return ctx.transaction(async (tx) => {
    if (outdated) await endRelease(tx, { projectId: project.id, actorId: ctx.actor!.id }, input.tag_name, outdated.id)
    const id = await insertRelease(tx, key, {
      name: input.name?.trim() || null,
      description: input.description ?? '',
      releasedAt: input.released_at,
    })
    // The insert waits for changes of the project.
    await tx.requirePermission?.()
    if (id === undefined) throw conflict('Release already exists')
    if (input.links.length > 0) await insertLinks(tx, id, input.links)
    if (input.milestones) await milestones.assign(ctx, tx, project, id, input.milestones)
    await emitReleaseEvent(tx, ctx, 'release_created', project, input.tag_name)
    return (await findRelease(tx, project.id, input.tag_name))!
  })
}

/** Creates the tag if it is missing. Returns a release that remains of a tag deleted through git, which is about another commit. */
async function ensureTag(
  ctx: Ctx,
  project: ProjectSubject,
  { tag_name, tag_message, ref }: NewRelease,
): Promise<ReleaseRow | undefined> {
  const name = requireTagName(tag_name)
  if (await readRef(openRepository(ctx, project), name)) return undefined
  if (!ref) throw new Failure('unprocessable', 'Ref is not specified')
  // Before the tag: a concurrent request may release that as soon as it exists.
  const outdated = await findRelease(ctx.db, project.id, tag_name)
  const tag = await createTagIfMissing(ctx, project, { tag_name, ref, ...(tag_message && { message: tag_message }) })
  return tag && outdated
}

/** Absent attributes stay, values as they are leave no trace, and an empty name becomes that of the tag. */
export async function editRelease(
  ctx: Ctx,
  project: ProjectSubject,
  tag: string,
  changes: {
    readonly name?: string | null
    readonly description?: string | null
    readonly released_at?: Date
    /** Titles of all milestones. */
    readonly milestones?: readonly string[]
  },
  milestones: MilestonesOfReleases,
): Promise<ReleaseRow> {
  requireName(changes.name)
  return ctx.transaction(async (tx) => {
    const before = await lockedRelease(tx, project, tag)
    const values = {
      name: changes.name === undefined ? undefined : changes.name?.trim() || null,
      description: changes.description === null ? '' : changes.description,
    }
    const isMoved =
      changes.released_at !== undefined && changes.released_at.getTime() !== Date.parse(before.released_at)
    const isChanged = isMoved || changedNames(before, values).length > 0
    if (isChanged) await updateRelease(tx, before.id, { ...values, releasedAt: changes.released_at })
    const isReassigned =
      changes.milestones !== undefined && (await milestones.assign(ctx, tx, project, before.id, changes.milestones))
    if (isChanged || isReassigned) await emitReleaseEvent(tx, ctx, 'release_updated', project, tag)
    return (await findRelease(tx, project.id, tag))!
  })
}

/** Deletes a release with its links and returns it; the tag stays. */
export const removeRelease = (ctx: Ctx, project: ProjectSubject, tag: string): Promise<ReleaseRow> =>
  ctx.transaction(async (tx) => {
    const release = await lockedRelease(tx, project, tag)
    await endRelease(tx, { projectId: project.id, actorId: ctx.actor!.id }, tag, release.id)
    return release
  })
