import { contextFor } from '../../../../test/contexts.ts'
import { type Client, type TestProject, unique, type World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { importFromUrl } from '../imports/jobs.ts'
import { done } from '../remotes/testing.ts'
import { updatePullMirror } from './jobs.ts'

/** Runs the job that updates the mirror, in a context that `change` may alter. */
export const update = async (world: World, { id }: { id: number }, change: (ctx: Ctx) => Ctx = (ctx) => ctx) =>
  updatePullMirror.run({ projectId: id }, change(await contextFor(world, null)))

/** A mirror of the source with its content, set up by a maintainer. */
export async function mirrorOf(
  world: World,
  source: TestProject,
  who: Client,
  more: object = {},
): Promise<{ id: number }> {
  const sent = { path: unique('mirror'), import_url: world.remote(source, world.root), mirror: true, ...more }
  const { id } = await done(who.post('/projects', sent))
  await importFromUrl.run({ projectId: id, storage: 'default' }, await contextFor(world, null))
  return { id }
}

/** The project, as the user reads it. */
export const record = (who: Client, { id }: { id: number }) => done(who.get(`/projects/${id}`))

/** The state of the mirror, as the user reads it. */
export const state = (who: Client, { id }: { id: number }) => done(who.get(`/projects/${id}/mirror/pull`))
