import { Type } from 'typebox'
import type { Tx } from '../../../db/db.ts'
import { enqueue, type JobDeclaration } from '../../../jobs/job.ts'

const input = Type.Object({ projectId: Type.Integer() })

/** Over four minutes: a database that is away for shorter must not cost what records show. */
const attempts = 6

/** Keeps the repository fit, and counts what records show of it. modules/pushes/pushes/jobs.ts runs it. */
export const repositoryRefreshDue: JobDeclaration<typeof input> = {
  name: 'refresh_repository',
  input,
  key: ({ projectId }) => `refresh_repository:${projectId}`,
  queue: ({ projectId }) => `repository:${projectId}`,
  rests: true,
  attempts,
}

/** Counts the languages of the default branch, one project at a time, since that keeps a processor busy. modules/projects/languages/jobs.ts runs it. */
export const languagesRefreshDue: JobDeclaration<typeof input> = {
  name: 'refresh_languages',
  input,
  key: ({ projectId }) => `refresh_languages:${projectId}`,
  queue: () => 'languages',
  rests: true,
  attempts,
}

/** Pushes that follow one another share one refresh, and are not slowed down by it. */
const refreshAfterMs = 1000
/** Nobody waits for the languages, and they read a whole tree. */
const languagesAfterMs = 3000

/** Queues the count of what records show: after each push, and where the default branch is another. */
export const refreshLater = (tx: Tx, projectId: number): Promise<number> =>
  enqueue(tx, repositoryRefreshDue, { projectId }, refreshAfterMs)

/** The same of the languages, when the default branch moved or is another. */
export const countLanguagesLater = (tx: Tx, projectId: number): Promise<number> =>
  enqueue(tx, languagesRefreshDue, { projectId }, languagesAfterMs)
