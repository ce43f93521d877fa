import type { Level } from '../src/access/levels.ts'
import { openIssue } from '../src/modules/planning/issues/testing.ts'
import type { Client, World } from './world.ts'

/** Removes Ann from a project or group. */
export const removed =
  (world: World, of: 'projects' | 'groups', { id }: { id: number }, ann: Client) =>
  () =>
    world.root.delete(`/${of}/${id}/members/${ann.id}`)

/** An issue of a project of Ann, and one of a project that she can be removed from. */
export async function twoIssues(world: World) {
  const ann = await world.user()
  const members: [Client, Level][] = [[ann, 'maintainer']]
  const [own, there] = [
    await openIssue(world, { visibility: 'private', members }),
    await openIssue(world, { visibility: 'private', members }),
  ]
  return { ann, own, there, leaves: removed(world, 'projects', there.project, ann) }
}
