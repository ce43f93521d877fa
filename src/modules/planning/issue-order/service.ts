import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { invalid, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { emitIssue } from '../issues/events.ts'
import { type IssueSubject, loadIssueById } from '../issues/subject.ts'
import {
  issuesAfter,
  lastBefore,
  lockOrder,
  moveIssue,
  type Place,
  type Placed,
  placesOf,
  savePlaces,
  unplacedBefore,
} from './queries.ts'
import { positionBetween, spread, step } from './spacing.ts'

/**
 * Maximum issues that get a position because an issue without one is named. Beyond it the named issue leaves its place: it comes
 * directly after all issues with a position.
 */
const mostPlacedAtOnce = 1000

/** Global ids of the issues next to the new place. At least one is given. */
export type Neighbours = {
  /** Comes before the moved issue. */
  readonly before: number | undefined
  /** Comes after the moved issue. */
  readonly after: number | undefined
}

/**
 * Moves an issue directly after `before`, or else directly before `after`; if both are given, directly after the first of them. All issues
 * below a top-level group have one order, so that boards of groups can mix projects; its changes take turns. The caller must be
 * allowed to update all of the issues.
 */
export async function reorderIssue(ctx: Ctx, moved: IssueSubject, { before, after }: Neighbours): Promise<void> {
  const named = [before, after].filter((id) => id !== undefined)
  if (named.includes(moved.id)) throw invalid('An issue cannot be moved next to itself')
  await requireChangeable(ctx, named)
  await ctx.transaction(async (tx) => {
    const root = await lockOrder(tx, moved.project_id)
    if (root === undefined) throw rowNotFound()
    const places = new Map((await placesOf(tx, root, [moved.id, ...named])).map((place) => [place.id, place]))
    const [previous, follower] = [before, after].map((id) => {
      if (id !== undefined && !places.has(id)) throw notFound('Issue')
      return id === undefined ? undefined : places.get(id)
    })
    const order = new Order(tx, root, moved.id)
    const position = await order.makeRoom(
      previous && follower
        ? { after: firstOf(previous, follower) }
        : previous
          ? { after: previous }
          : { before: follower! },
    )
    const was = places.get(moved.id)
    if (!was || !(await moveIssue(tx, { id: moved.id, position }))) throw rowNotFound()
    // The order, and the rows of the issues, are waited for.
    await tx.requirePermission?.()
    await requireChangeable({ ...ctx, db: tx }, named)
    await emitIssue(tx, moved.id, {
      kind: 'issue_updated',
      actorId: ctx.actor!.id,
      changes: { relative_position: [was.position, position] },
    })
  })
}

/** Throws unless the caller may update all of these issues. */
async function requireChangeable(ctx: Ctx, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    const found = await loadIssueById(id, ctx)
    if (!found || !allows(issuePolicy.update_issue, ctx.actor, found.facts)) throw notFound('Issue')
  }
}

/** Issues without a position come last, the newest first, as do those with the same position. */
function firstOf(a: Place, b: Place): Place {
  const [first, second] = [a.position ?? Number.POSITIVE_INFINITY, b.position ?? Number.POSITIVE_INFINITY]
  return first < second || (first === second && a.id > b.id) ? a : b
}

/** The order of the issues below a top-level group, which is locked, while one of them moves. */
class Order {
  readonly #tx: Tx
  readonly #root: number
  readonly #moving: number

  constructor(tx: Tx, root: number, moving: number) {
    this.#tx = tx
    this.#root = root
    this.#moving = moving
  }

  /** A free position next to a place. The order of the other issues stays as it is, but see `mostPlacedAtOnce`. */
  async makeRoom(next: { readonly after: Place } | { readonly before: Place }): Promise<number> {
    if ('after' in next) return this.#after(await this.#placed(next.after))
    const follower = next.before
    if (follower.position === null) return this.#after(await this.#placeUnplacedBefore(follower.id))
    const placed = { id: follower.id, position: follower.position }
    const previous = await lastBefore(this.#tx, this.#root, placed, this.#moving)
    return previous ? this.#after(previous) : positionBetween(undefined, follower.position)!
  }

  async #after(previous: Placed | undefined): Promise<number> {
    if (!previous) return positionBetween(undefined, undefined)!
    const [follower] = await this.#following(previous, 1)
    return positionBetween(previous.position, follower?.position) ?? this.#spreadAfter(previous)
  }

  /** Moves issues after a place away from it, more of them until there is room, and returns the position that becomes free. */
  async #spreadAfter(previous: Placed): Promise<number> {
    for (let count = 16; ; count *= 4) {
      const following = await this.#following(previous, count + 1)
      const moving = following.slice(0, count)
      const positions = spread(previous.position, moving.length + 1, following[count]?.position)
      if (!positions) continue
      await savePlaces(
        this.#tx,
        moving.map(({ id }, index) => ({ id, position: positions[index + 1]! })),
      )
      return positions[0]!
    }
  }

  #following(previous: Placed, limit: number): Promise<Placed[]> {
    return issuesAfter(this.#tx, this.#root, previous, this.#moving, limit)
  }

  /** The place itself; an issue without a position gets one, after those that come before it. */
  async #placed({ id, position }: Place): Promise<Placed> {
    if (position !== null) return { id, position }
    return this.#append([id], await this.#placeUnplacedBefore(id))
  }

  /** Gives positions to the issues that come before one without a position, and returns the last one that has a position. */
  async #placeUnplacedBefore(id: number): Promise<Placed | undefined> {
    const last = await lastBefore(this.#tx, this.#root, undefined, this.#moving)
    const ahead = (await unplacedBefore(this.#tx, this.#root, id, this.#moving, mostPlacedAtOnce)) ?? []
    return ahead.length > 0 ? this.#append(ahead, last) : last
  }

  /** Gives positions to issues, after all others, and returns the last of them. */
  async #append(ids: readonly number[], last: Placed | undefined): Promise<Placed> {
    const start = last?.position ?? 0
    const places = ids.map((id, index) => ({ id, position: start + step * (index + 1) }))
    await savePlaces(this.#tx, places)
    return places.at(-1)!
  }
}
