import { Type } from 'typebox'
import type { Tx } from '../../../db/db.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { countBlobs } from './queries.ts'

/** Computes the size of the container registry of a project. */
export const refreshRegistrySize = job({
  name: 'refresh_registry_size',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `refresh_registry_size:${projectId}`,
  attempts: 3,
  run: ({ projectId }, ctx) => ctx.transaction((tx) => countBlobs(tx, projectId)),
})

/** Pushes in quick succession share one computation. */
const delayMs = 3000

export const countLater = (tx: Tx, projectId: number): Promise<number> =>
  enqueue(tx, refreshRegistrySize, { projectId }, delayMs)
