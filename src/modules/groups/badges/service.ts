import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { forbidden, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import {
  blank,
  invalidUrl,
  lengthViolations,
  tooLong,
  urlViolations,
  violationsOf,
} from '../../../kernel/violations.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import { fill } from './placeholders.ts'
import {
  type BadgeRow,
  type BadgeValues,
  deleteBadge,
  findBadge,
  insertBadge,
  lockBadge,
  updateBadge,
} from './queries.ts'

const maxLengths = { name: 255, url: 2048 }

const anyValues = {
  project_path: 'x/x',
  project_title: 'x',
  project_name: 'x',
  project_id: '1',
  default_branch: 'x',
  commit_sha: '1',
}

/** Errors of a URL that browsers will load. */
function badgeUrlViolations(url: string): string[] {
  if (url.trim() === '') return [blank]
  if (url.length > maxLengths.url) return [tooLong(maxLengths.url)]
  const filled = fill(url, anyValues)
  // The URL must not be able to end an HTML attribute in a page that shows it unescaped.
  return /["'<>\\`]/.test(filled) ? [invalidUrl] : urlViolations(filled)
}

/** Throws `invalid` with the errors of a badge by field. */
export function checkUrls({ link_url, image_url }: Pick<BadgeValues, 'link_url' | 'image_url'>, name?: string): void {
  const violations = violationsOf({
    link_url: badgeUrlViolations(link_url),
    image_url: badgeUrlViolations(image_url),
    name: lengthViolations(name ?? '', maxLengths.name),
  })
  if (violations) throw invalidFields(violations)
}

export async function createBadge(ctx: Ctx, holder: Holder, values: BadgeValues): Promise<BadgeRow> {
  checkUrls(values, values.name ?? undefined)
  return ctx.transaction(async (tx) => {
    const badge = await insertBadge(tx, holder, values)
    // The insert waits for changes of the holder.
    await tx.requirePermission?.()
    await record(ctx, tx, 'badge_created', holder, badge.id)
    return badge
  })
}

/** A badge of the holder itself; those of its groups are edited there. */
async function ownBadge(ctx: Ctx, holder: Holder, id: number, verb: string): Promise<BadgeRow> {
  const badge = await findBadge(ctx.db, holder, id)
  if (!badge) throw rowNotFound()
  if (badge.kind !== holder.of) throw forbidden(`To ${verb} a group badge please use the group endpoint`)
  return badge
}

/** Absent values stay, and values as they are leave no trace. */
export async function editBadge(
  ctx: Ctx,
  holder: Holder,
  id: number,
  changes: { [K in keyof BadgeValues]?: BadgeValues[K] | undefined },
): Promise<BadgeRow> {
  await ownBadge(ctx, holder, id, 'edit')
  return ctx.transaction(async (tx) => {
    const held = await lockBadge(tx, holder, id)
    await tx.requirePermission?.()
    if (!held) throw rowNotFound()
    const values = {
      name: changes.name === undefined ? held.name : changes.name,
      link_url: changes.link_url ?? held.link_url,
      image_url: changes.image_url ?? held.image_url,
    }
    checkUrls(values, values.name ?? undefined)
    if (changedNames(held, values).length === 0) return held
    const badge = await updateBadge(tx, holder, id, values)
    if (!badge) throw rowNotFound()
    await record(ctx, tx, 'badge_updated', holder, id)
    return badge
  })
}

export async function removeBadge(ctx: Ctx, holder: Holder, id: number): Promise<void> {
  await ownBadge(ctx, holder, id, 'delete')
  await ctx.transaction(async (tx) => {
    const deleted = await deleteBadge(tx, holder, id)
    await tx.requirePermission?.()
    if (!deleted) throw rowNotFound()
    await record(ctx, tx, 'badge_deleted', holder, id)
  })
}

type BadgeEvent = 'badge_created' | 'badge_updated' | 'badge_deleted'

const record = (ctx: Ctx, tx: Parameters<typeof emit>[0], kind: BadgeEvent, holder: Holder, badgeId: number) =>
  emit(tx, { kind, ...placeOf(holder), actorId: ctx.actor!.id, payload: { badge_id: badgeId } })
