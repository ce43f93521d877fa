import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { sendMails } from '../../instance/index.ts'
import { noteMail, todoMail } from './mails.ts'
import { findMailedNote, recipientsOfNote, recipientsOfTodos } from './recipient-queries.ts'

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
    await ctx.transaction((tx) =>
      sendMails(
        tx,
        people.map((to) => noteMail(ctx.site, to, note)),
      ),
    )
  },
})

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
