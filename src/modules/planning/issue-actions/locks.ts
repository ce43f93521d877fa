import type { ActionsInTransaction } from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import { lockState } from '../../projects/index.ts'

/** What the actions of an issue of a project need. They change labels and the state: both locks come before that of the issue. */
export const issueActionLocks = (projectId: number): ActionsInTransaction => ({
  outside: new Set(),
  async lock(tx) {
    await holdPlace(tx, { of: 'project', id: projectId })
    await lockState(tx, projectId)
  },
})
