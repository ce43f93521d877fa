import type { ActionsInTransaction } from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import { loadProject, lockState } from '../../projects/index.ts'
import { lockMilestoneOf, lockProjects } from '../issue-moves/queries.ts'
import { type ActingProject, lockNamedMilestones } from '../quick-actions/milestone-locks.ts'

/** Names of the actions whose argument is the project to which the issue goes. */
const goingNames: ReadonlySet<string> = new Set(['move', 'clone'])

/** Names of the actions that change the state or the confidentiality, for which an edit locks the project, too. */
const stateNames: ReadonlySet<string> = new Set(['close', 'reopen', 'confidential', 'duplicate', 'promote'])

/**
 * What the actions of an issue of a project need. They change labels, milestone and state, or another project: these locks come before that
 * of the issue. `issueId` is undefined for a new one.
 */
export const issueActionLocks = (project: ActingProject, issueId: number | undefined): ActionsInTransaction => ({
  outside: new Set(),
  async lock(tx, ctx, actions) {
    await holdPlace(tx, { of: 'project', id: project.id })
    const going = actions.filter(({ name, argument }) => goingNames.has(name) && argument.includes('/'))
    if (going.length > 0) {
      const targets = await Promise.all(going.map(({ argument }) => loadProject(argument, ctx)))
      await lockProjects(tx, [project.id, ...targets.flatMap((target) => target?.id ?? [])])
      if (issueId !== undefined) await lockMilestoneOf(tx, issueId)
    } else if (actions.some(({ name }) => stateNames.has(name))) await lockState(tx, project.id)
    await lockNamedMilestones(tx, ctx, project, actions)
  },
})
