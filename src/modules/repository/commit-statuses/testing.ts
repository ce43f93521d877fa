import type { World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type StoredProject, storedProject } from '../commits/testing.ts'

type Options = Parameters<typeof storedProject>[1]
export type Reported = { project: StoredProject; first: Oid; second: Oid }

/** A project with two commits on `main`; the second is on `feature` too. */
export async function reported(world: World, options: Options = {}): Promise<Reported> {
  const project = await storedProject(world, options)
  const first = project.repository.commit({ 'a.txt': 'a\n' })
  const second = project.repository.commit({ 'b.txt': 'b\n' })
  project.repository.git('branch', 'feature')
  return { project, first, second }
}

export const statusesPath = ({ id }: StoredProject, sha: string) =>
  `/projects/${id}/repository/commits/${encodeURIComponent(sha)}/statuses`
export const reportPath = ({ id }: StoredProject, sha: string) => `/projects/${id}/statuses/${encodeURIComponent(sha)}`
