import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import type { Reaction } from '../../../events/reaction.ts'
import { job } from '../../../jobs/job.ts'
import { queues } from '../../../jobs/reaction.ts'
import { mailPeople } from './jobs.ts'
import { mirrorMail } from './mails.ts'
import { findStoppedMirror, managersOf } from './recipient-queries.ts'

/** Mails a mirror that stopped, a push mirror or the pull mirror (`null`), to members who manage the project. */
export const mailMirrorJob = job({
  name: 'mail_stopped_mirror',
  input: Type.Object({
    projectId: Type.Integer(),
    pushMirrorId: Type.Union([Type.Integer(), Type.Null()]),
    cause: Type.String(),
  }),
  key: ({ cause }) => `mail_stopped_mirror:${cause}`,
  attempts: 5,
  async run({ projectId, pushMirrorId, cause }, ctx) {
    const mirror = await findStoppedMirror(ctx.db, projectId, pushMirrorId)
    if (!mirror) return
    const people = await managersOf(ctx.db, projectId)
    const direction = pushMirrorId === null ? 'pull' : 'push'
    await mailPeople(ctx, { about: 'mirror', projectId, actorId: null, cause, people }, (to) =>
      mirrorMail(ctx, direction, mirror, to),
    )
  },
})

export const mailPullMirror: Reaction<'pull_mirror_stopped'> = queues(mailMirrorJob, ({ projectId }) => ({
  projectId,
  pushMirrorId: null,
  cause: randomUUID(),
}))

export const mailPushMirror: Reaction<'push_mirror_stopped'> = queues(mailMirrorJob, ({ projectId, payload }) => ({
  projectId,
  pushMirrorId: payload.push_mirror_id,
  cause: randomUUID(),
}))
