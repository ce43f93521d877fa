import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { job } from '../../../jobs/job.ts'
import { queues } from '../../../jobs/reaction.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { countHit } from '../../../settings/queries.ts'
import { asAccounts } from '../../accounts/index.ts'
import type { NotificationEvent, Recipient } from '../../groups/index.ts'
import { deliver, delivery, excerptOf, mailOnce, sendMailsBy } from '../../instance/index.ts'
import { isNoteableType, isPlannedType, isTodoType, kindOf, type PlannedType } from '../noteables/kinds.ts'
import { namedMail, noteMail, openingMail } from './mails.ts'
import {
  findMailedNote,
  isStillWanted,
  type MailedAction,
  type MailedNote,
  type MailedNoteable,
  namedByTodos,
  recipientsOfNamed,
  recipientsOfNote,
  recipientsOfOpening,
} from './recipient-queries.ts'

/**
 * Maximum notes of one author that are mailed within an hour, and as many of their new noteables of a kind, of users whom they name, and of other
 * events.
 */
export const maxMailedPerHour = 100

/** Sends a mail about a noteable, if its recipient may still read that and wants it: it may have waited for days. */
export const deliverNoteableMail = job({
  name: 'deliver_noteable_mail',
  ...delivery,
  input: Type.Object({
    mailId: Type.Integer(),
    userId: Type.Integer(),
    type: Type.String(),
    noteableId: Type.Integer(),
    noteId: Type.Union([Type.Integer(), Type.Null()]),
  }),
  key: ({ mailId }) => `deliver_noteable_mail:${mailId}`,
  run: ({ mailId, type, ...waiting }, ctx) =>
    deliver(
      ctx,
      mailId,
      async (address) => isNoteableType(type) && isStillWanted(ctx.db, { type, ...waiting, address }),
    ),
})

/** A mail about a noteable and its recipient; `noteId` is the note that it quotes. */
export type NoteableMail = {
  readonly mail: Mail
  readonly to: Pick<Recipient, 'id'>
  readonly noteable: Pick<MailedNoteable, 'type' | 'id'>
  readonly noteId?: number
}

/** Queues mails about noteables. */
export const sendNoteableMails = (tx: Tx, mails: readonly NoteableMail[]): Promise<void> =>
  sendMailsBy(
    tx,
    deliverNoteableMail,
    mails.map(({ mail, to, noteable, noteId = null }) => ({
      mail,
      input: { userId: to.id, type: noteable.type, noteableId: noteable.id, noteId },
    })),
  )

/** Mails a note to users whose notification settings ask for it. */
export const mailNoteJob = job({
  name: 'mail_note',
  input: Type.Object({ noteId: Type.Integer() }),
  key: ({ noteId }) => `mail_note:${noteId}`,
  attempts: 5,
  async run({ noteId }, ctx) {
    const note = await findMailedNote(ctx.db, noteId, maxMailedPerHour + 1)
    if (!note || note.lately > maxMailedPerHour) return
    const people = await recipientsOfNote(ctx.db, note)
    await mailOnce(
      ctx,
      `note:${noteId}`,
      people,
      async (some) => {
        const html = await htmlFor(ctx, some, note)
        return some.map((to) => ({
          mail: noteMail(ctx, to, note, html.get(to.id)),
          to,
          noteable: note.noteable,
          noteId: note.id,
        }))
      },
      sendNoteableMails,
    )
  },
})

/** Maximum characters of a quote as HTML: each recipient's mail has it. A longer one is mailed as text. */
const maxHtmlLength = 50_000

/**
 * The quoted part of a note as HTML for each recipient: its references are links if the recipient may see what they name. The text is
 * rendered once; references take one statement for each kind and recipient.
 */
async function htmlFor(ctx: Ctx, people: readonly Recipient[], note: MailedNote): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>()
  if (!ctx.settings.html_emails_enabled) return found
  const { type, full_path } = note.noteable
  const place = { of: kindOf(type).holder.of, full_path }
  const readers = await asAccounts(
    ctx,
    people.map(({ id }) => id),
  )
  for (const [id, reader] of readers) {
    const [excerpt] = await reader.markdown.html(reader, [{ text: excerptOf(note.body), place }])
    if (excerpt && excerpt.html.length <= maxHtmlLength) found.set(id, excerpt.html)
  }
  return found
}

const named = Type.Object({
  userId: Type.Integer(),
  authorId: Type.Integer(),
  action: Type.Unsafe<MailedAction>(Type.String()),
})

/** Mails users whom others named in a noteable: as assignees or reviewers, or in its description. */
export const mailNamedUsersJob = job({
  name: 'mail_named_users',
  input: Type.Object({ type: Type.String(), id: Type.Integer(), users: Type.Array(named), cause: Type.String() }),
  key: ({ cause }) => `mail_named_users:${cause}`,
  attempts: 5,
  async run({ type, id, users, cause }, ctx) {
    if (!isTodoType(type)) return
    for (const [authorId, theirs] of Map.groupBy(users, (each) => each.authorId)) {
      const { hits } = await countHit(ctx.db, `named_users:${authorId}`, 3600, theirs.length)
      if (hits > maxMailedPerHour) continue
      const people = await recipientsOfNamed(ctx.db, type, id, theirs)
      await mailOnce(
        ctx,
        `named:${cause}:${authorId}`,
        people,
        (some) => some.map((each) => ({ mail: namedMail(ctx, each), to: each, noteable: each.noteable })),
        sendNoteableMails,
      )
    }
  },
})

/** As the previous release queued it: todos of one change. */
const mailTodosJob = job({
  name: 'mail_todos',
  input: Type.Object({ todoIds: Type.Array(Type.Integer()) }),
  key: ({ todoIds }) => `mail_todos:${todoIds[0]}`,
  attempts: 5,
  async run({ todoIds }, ctx) {
    for (const about of await namedByTodos(ctx.db, todoIds))
      await mailNamedUsersJob.run({ ...about, cause: `todos:${todoIds[0]}` }, ctx)
  },
})

/** Jobs that the previous release queued under these names. */
export const mailJobsOfPreviousRelease = [
  mailTodosJob,
  { ...mailNoteJob, name: 'tell_of_note' },
  { ...mailTodosJob, name: 'tell_of_todos' },
]

/** The notification events of new noteables. */
const openings = {
  Epic: 'new_epic',
  Issue: 'new_issue',
  MergeRequest: 'new_merge_request',
} as const satisfies Readonly<Record<PlannedType, NotificationEvent>>

/** Mails a new noteable to users whose notification settings or subscriptions ask for it. */
export const mailOpeningJob = job({
  name: 'mail_opening',
  input: Type.Object({ type: Type.String(), id: Type.Integer(), actorId: Type.Integer() }),
  key: ({ type, id }) => `mail_opening:${type}:${id}`,
  attempts: 5,
  async run({ type, id, actorId }, ctx) {
    if (!isPlannedType(type)) return
    const people = await recipientsOfOpening(ctx.db, type, { id, actorId }, openings[type], maxMailedPerHour)
    await mailOnce(
      ctx,
      `opening:${type}:${id}`,
      people,
      (some) => some.map((each) => ({ mail: openingMail(ctx, each), to: each, noteable: each.noteable })),
      sendNoteableMails,
    )
  },
})

const opening = (type: PlannedType, id: number, actorId: number | null) =>
  actorId === null ? undefined : { type, id, actorId }

export const mailNewEpic: Reaction<'epic_opened'> = queues(mailOpeningJob, ({ payload, actorId }) =>
  opening('Epic', payload.epic_id, actorId),
)

export const mailNewIssue: Reaction<'issue_opened'> = queues(mailOpeningJob, ({ payload, actorId }) =>
  opening('Issue', payload.issue_id, actorId),
)

export const mailNewMergeRequest: Reaction<'merge_request_opened'> = queues(mailOpeningJob, ({ payload, actorId }) =>
  opening('MergeRequest', payload.merge_request_id, actorId),
)
