import { contextFor } from '../../../../test/contexts.ts'
import type { TestProject, World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { done, sourceOf } from '../remotes/testing.ts'
import { pushToMirror } from './jobs.ts'

export type Mirror = { readonly id: number; readonly at: string; readonly update: (change?: Change) => Promise<void> }
type Change = (ctx: Ctx) => Ctx

/** An enabled push mirror of the project. */
export async function mirrorTo(world: World, project: { id: number }, url: string, more: object = {}): Promise<Mirror> {
  const made = await done(world.root.post(`/projects/${project.id}/remote_mirrors`, { url, enabled: true, ...more }))
  const update = async (change: Change = (ctx) => ctx) =>
    pushToMirror.run({ projectId: project.id, mirrorId: made.id }, change(await contextFor(world, null)))
  return { id: made.id, at: `/projects/${project.id}/remote_mirrors/${made.id}`, update }
}

/** A project with content, an empty one, and a push mirror from the first to the second. */
export async function mirrored(
  world: World,
  more: object = {},
): Promise<Mirror & { project: TestProject; target: TestProject }> {
  const [project, target] = [await sourceOf(world), await world.project()]
  // So that nothing but the mirror refuses a push.
  await world.settings({ default_branch_protection: 0 })
  return { project, target, ...(await mirrorTo(world, project, world.remote(target, world.root), more)) }
}

export const state = (world: World, { at }: Mirror) => done(world.root.get(at))
