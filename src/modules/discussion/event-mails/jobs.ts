import { randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { job } from '../../../jobs/job.ts'
import { countHit } from '../../../settings/queries.ts'
import { mailOnce } from '../../instance/index.ts'
import { isPlannedType, type PlannedType } from '../noteables/kinds.ts'
import { maxMailedPerHour, sendNoteableMails } from '../subscriptions/jobs.ts'
import { happeningMail } from '../subscriptions/mails.ts'
import { authorsById, recipientsOfEvent } from '../subscriptions/recipient-queries.ts'
import { type Happening, happenings, textOf } from './happenings.ts'

const Ids = Type.Array(Type.Integer())

const Input = Type.Object({
  type: Type.String(),
  id: Type.Integer(),
  happening: Type.String(),
  actorId: Type.Union([Type.Integer(), Type.Null()]),
  /** Ids of what the noteable has now, and no longer has: users or labels. */
  added: Ids,
  removed: Ids,
  /** Names the event: a job may run twice. */
  cause: Type.String(),
})

/** Input of `mailHappeningJob`, for one event. */
export type HappeningInput = Static<typeof Input>

export const happeningOf = (
  type: PlannedType,
  id: number,
  happening: Happening,
  actorId: number | null,
  { added = [], removed = [] }: Partial<Pick<HappeningInput, 'added' | 'removed'>> = {},
): HappeningInput => ({ type, id, happening, actorId, added, removed, cause: randomUUID() })

const isHappening = (name: string): name is Happening => Object.hasOwn(happenings, name)

/** Mails what happened to a noteable to users whose notification settings or subscriptions ask for it, except for the one who did it. */
export const mailHappeningJob = job({
  name: 'mail_happening',
  input: Input,
  key: ({ cause }) => `mail_happening:${cause}`,
  attempts: 5,
  async run({ type, id, happening, actorId, added, removed, cause }, ctx) {
    if (!isPlannedType(type) || !isHappening(happening)) return
    const event = textOf(happening).settings?.[type]
    const ofLabels = happening === 'labels_added'
    // Those who were added are named, which is a mail of its own.
    const except = [...(actorId === null ? [] : [actorId]), ...(ofLabels ? [] : added)]
    const sought = ofLabels ? { labelIds: added } : { also: removed }
    const people = await recipientsOfEvent(ctx.db, type, [id], { event, except, ...sought })
    if (people.length === 0) return
    const { hits } = await countHit(ctx.db, `happenings:${actorId ?? `${type}:${id}`}`, 3600)
    if (hits > maxMailedPerHour) return
    const about = await describe(ctx, { happening, actorId, added: ofLabels ? [] : added, removed })
    await mailOnce(
      ctx,
      `happening:${cause}`,
      people,
      (some) => some.map((each) => ({ mail: happeningMail(ctx, about, each), to: each, noteable: each.noteable })),
      sendNoteableMails,
    )
  },
})

/** What happened, with the names of the users who are part of it. */
async function describe(
  ctx: Ctx,
  {
    happening,
    actorId,
    added,
    removed,
  }: Pick<HappeningInput, 'actorId' | 'added' | 'removed'> & { happening: Happening },
) {
  const users = await authorsById(ctx.db, [...(actorId === null ? [] : [actorId]), ...added, ...removed])
  const named = (ids: readonly number[]) => ids.flatMap((id) => users.get(id) ?? [])
  return {
    ...textOf(happening),
    author: actorId === null ? undefined : users.get(actorId),
    added: named(added),
    removed: named(removed),
  }
}
