import { contextFor } from '../../../../test/contexts.ts'
import type { World } from '../../../../test/world.ts'
import { copySource } from './jobs.ts'

/** Payload of the job that fills a fork. */
export async function jobOf(world: World, projectId: number) {
  const job = (await world.jobs(`copy_source:${projectId}`)).at(-1)
  return job!.payload as { projectId: number; storage: string; sourceId: number }
}

/** Runs the job that fills a fork, as the jobs process does. */
export async function bringRepository(world: World, projectId: number): Promise<void> {
  await copySource.run(await jobOf(world, projectId), await contextFor(world, null))
}
