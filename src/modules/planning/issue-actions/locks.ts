import type { ActionsInTransaction } from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import { loadProject, lockState } from '../../projects/index.ts'
import { lockMilestoneOf, lockProjects } from '../issue-moves/queries.ts'

/** Names of the actions whose argument is the project to which the issue goes. */
const goingNames: ReadonlySet<string> = new Set(['move', 'clone'])

/**
 * What the actions of an issue of a project need. They change labels and the state, or another project: these locks come before that of the
 * issue. `issueId` is undefined for a new one.
 */
export const issueActionLocks = (projectId: number, issueId: number | undefined): ActionsInTransaction => ({
  outside: new Set(),
  async lock(tx, ctx, actions) {
    await holdPlace(tx, { of: 'project', id: projectId })
    const going = actions.filter(({ name, argument }) => goingNames.has(name) && argument.includes('/'))
    if (going.length === 0) return lockState(tx, projectId)
    const targets = await Promise.all(going.map(({ argument }) => loadProject(argument, ctx)))
    await lockProjects(tx, [projectId, ...targets.flatMap((target) => target?.id ?? [])])
    if (issueId !== undefined) await lockMilestoneOf(tx, issueId)
  },
})
