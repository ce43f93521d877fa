import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { job } from '../../../jobs/job.ts'
import { queues } from '../../../jobs/reaction.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { countHit } from '../../../settings/queries.ts'
import { deliver, delivery, mailOnce, sendMailsBy } from '../../instance/index.ts'
import { projectOnBehalf } from '../../projects/index.ts'
import { moveMail, type PipelineEvent, pipelineMail, releaseMail } from './mails.ts'
import {
  findAuthor,
  findMailedPipeline,
  findMailedRelease,
  isStillWanted,
  type MailedPipeline,
  type MailedProject,
  recipientOfPipeline,
  recipientsOfMove,
  recipientsOfRelease,
} from './recipient-queries.ts'

/** Maximum releases and moves of one user that are mailed within an hour, and as many pipelines. */
const maxMailedPerHour = 100

/** What a recipient must be able to read, by what the mail is about. */
const abilities = {
  release: 'read_code',
  move: 'read_project',
  pipeline: 'read_pipeline',
  mirror: 'read_mirror',
} as const

type About = keyof typeof abilities

const isAbout = (word: string): word is About => Object.hasOwn(abilities, word)

/** Sends a mail about a project, if its recipient may still read what it is about, and wants it: it may have waited for days. */
export const deliverProjectMail = job({
  name: 'deliver_project_mail',
  ...delivery,
  input: Type.Object({
    mailId: Type.Integer(),
    userId: Type.Integer(),
    projectId: Type.Integer(),
    about: Type.String(),
  }),
  key: ({ mailId }) => `deliver_project_mail:${mailId}`,
  run: ({ mailId, userId, projectId, about }, ctx) =>
    deliver(
      ctx,
      mailId,
      async (address) =>
        isAbout(about) &&
        (await projectOnBehalf(ctx, userId, projectId, abilities[about])) !== undefined &&
        (await isStillWanted(ctx.db, { projectId, userId, address })),
    ),
})

/** What a job mails: about what of which project, to whom, and who caused it. */
type Mailing = {
  readonly about: About
  readonly projectId: number
  readonly actorId: number | null
  /** Names the event: a job may run twice. */
  readonly cause: string
  readonly people: readonly MailedProject[]
}

export async function mailPeople(
  ctx: Ctx,
  { about, projectId, actorId, cause, people }: Mailing,
  mailTo: (to: MailedProject) => Mail,
): Promise<void> {
  if (people.length === 0) return
  const { hits } = await countHit(ctx.db, `${about}_mails:${actorId ?? `project:${projectId}`}`, 3600)
  if (hits > maxMailedPerHour) return
  await mailOnce(
    ctx,
    `${about}:${cause}`,
    people,
    (some) => some.map((to) => ({ mail: mailTo(to), input: { userId: to.id, projectId, about } })),
    (tx, mails) => sendMailsBy(tx, deliverProjectMail, mails),
  )
}

const Actor = Type.Union([Type.Integer(), Type.Null()])

/** Mails a new release to users whose notification settings ask for it. */
export const mailReleaseJob = job({
  name: 'mail_release',
  input: Type.Object({ projectId: Type.Integer(), tag: Type.String(), actorId: Actor, cause: Type.String() }),
  key: ({ cause }) => `mail_release:${cause}`,
  attempts: 5,
  async run({ projectId, tag, actorId, cause }, ctx) {
    const release = await findMailedRelease(ctx.db, projectId, tag)
    if (!release) return
    const people = await recipientsOfRelease(ctx.db, projectId, actorId)
    await mailPeople(ctx, { about: 'release', projectId, actorId, cause, people }, (to) =>
      releaseMail(ctx, release, to),
    )
  },
})

export const mailRelease: Reaction<'release_created'> = queues(mailReleaseJob, ({ projectId, payload, actorId }) => ({
  projectId,
  tag: payload.tag,
  actorId,
  cause: randomUUID(),
}))

/** Mails the new path of a project to its members. */
export const mailMoveJob = job({
  name: 'mail_project_move',
  input: Type.Object({ projectId: Type.Integer(), oldPath: Type.String(), actorId: Actor, cause: Type.String() }),
  key: ({ cause }) => `mail_project_move:${cause}`,
  attempts: 5,
  async run({ projectId, oldPath, actorId, cause }, ctx) {
    const people = await recipientsOfMove(ctx.db, projectId, actorId)
    const author = actorId === null ? undefined : await findAuthor(ctx.db, actorId)
    await mailPeople(ctx, { about: 'move', projectId, actorId, cause, people }, (to) =>
      moveMail(ctx, { oldPath, author }, to),
    )
  },
})

export const mailMove: Reaction<'project_transferred' | 'project_renamed'> = queues(
  mailMoveJob,
  ({ projectId, facts, actorId }) => ({ projectId, oldPath: facts.old_full_path, actorId, cause: randomUUID() }),
)

const eventOf = ({ status, after_failure }: MailedPipeline): PipelineEvent => {
  if (status === 'failed') return 'failed_pipeline'
  return after_failure ? 'fixed_pipeline' : 'success_pipeline'
}

/** Mails to the user of a pipeline that it failed, or succeeded. */
export const mailPipelineJob = job({
  name: 'mail_pipeline',
  input: Type.Object({ pipelineId: Type.Integer(), cause: Type.String() }),
  key: ({ pipelineId }) => `mail_pipeline:${pipelineId}`,
  attempts: 5,
  async run({ pipelineId, cause }, ctx) {
    const pipeline = await findMailedPipeline(ctx.db, pipelineId)
    if (!pipeline) return
    const { project_id: projectId, user_id: actorId } = pipeline
    const event = eventOf(pipeline)
    const to = await recipientOfPipeline(ctx.db, projectId, event, actorId)
    // No twin in SQL of who may read pipelines is needed for one user.
    if (!to || !(await projectOnBehalf(ctx, actorId, projectId, abilities.pipeline))) return
    await mailPeople(ctx, { about: 'pipeline', projectId, actorId, cause, people: [to] }, (each) =>
      pipelineMail(ctx, pipeline, event, each),
    )
  },
})

/** Milliseconds after which a pipeline is mailed, unless it runs again: reports of its jobs arrive one by one, and each may be the last. */
const pipelineAfterMs = 10_000

export const mailPipeline: Reaction<'pipeline_changed'> = queues(
  mailPipelineJob,
  ({ payload: { pipeline_id, status } }) =>
    status === 'failed' || status === 'success' ? { pipelineId: pipeline_id, cause: randomUUID() } : undefined,
  pipelineAfterMs,
)
