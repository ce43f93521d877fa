import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { job } from '../../../jobs/job.ts'
import { queues } from '../../../jobs/reaction.ts'
import { asAccounts } from '../../accounts/index.ts'
import type { NotificationEvent, Recipient } from '../../groups/index.ts'
import { sendMails } from '../../instance/index.ts'
import { kindOf, type PlannedType } from '../noteables/kinds.ts'
import { excerptOf, noteMail, openingMail, todoMail } from './mails.ts'
import {
  findMailedNote,
  type MailedNote,
  recipientsOfNote,
  recipientsOfOpening,
  recipientsOfTodos,
} from './recipient-queries.ts'

/** Maximum notes of one author that are mailed within an hour, and of their mentions and assignments elsewhere. */
const mostAnHour = 100

/** Mails a note to users whose notification settings ask for it. */
export const mailNoteJob = job({
  name: 'tell_of_note',
  input: Type.Object({ noteId: Type.Integer() }),
  key: ({ noteId }) => `tell_of_note:${noteId}`,
  attempts: 5,
  async run({ noteId }, ctx) {
    const note = await findMailedNote(ctx.db, noteId, mostAnHour + 1)
    if (!note || note.lately > mostAnHour) return
    const people = await recipientsOfNote(ctx.db, note)
    const html = await htmlFor(ctx, people, note)
    await ctx.transaction((tx) =>
      sendMails(
        tx,
        people.map((to) => noteMail(ctx.site, to, note, html.get(to.id))),
      ),
    )
  },
})

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
    if (excerpt) found.set(id, excerpt.html)
  }
  return found
}

/** Mails todos that other users caused. */
export const mailTodosJob = job({
  name: 'tell_of_todos',
  input: Type.Object({ todoIds: Type.Array(Type.Integer()) }),
  key: ({ todoIds }) => `tell_of_todos:${todoIds[0]}`,
  attempts: 5,
  async run({ todoIds }, ctx) {
    const todos = await recipientsOfTodos(ctx.db, todoIds, mostAnHour)
    await ctx.transaction((tx) =>
      sendMails(
        tx,
        todos.map((todo) => todoMail(ctx.site, todo)),
      ),
    )
  },
})

/** The notification events of new noteables. */
const openings = {
  Epic: 'new_epic',
  Issue: 'new_issue',
  MergeRequest: 'new_merge_request',
} as const satisfies Readonly<Record<PlannedType, NotificationEvent>>

const isOpening = (type: string): type is PlannedType => Object.hasOwn(openings, type)

/** Mails a new noteable to users whose notification settings or subscriptions ask for it. */
export const mailOpeningJob = job({
  name: 'mail_opening',
  input: Type.Object({ type: Type.String(), id: Type.Integer(), actorId: Type.Integer() }),
  key: ({ type, id }) => `mail_opening:${type}:${id}`,
  attempts: 5,
  async run({ type, id, actorId }, ctx) {
    if (!isOpening(type)) return
    const people = await recipientsOfOpening(ctx.db, type, { id, actorId }, openings[type], mostAnHour)
    await ctx.transaction((tx) =>
      sendMails(
        tx,
        people.map((each) => openingMail(ctx.site, each)),
      ),
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
