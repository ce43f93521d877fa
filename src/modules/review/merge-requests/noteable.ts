import type { PlannedNoteable } from '../../discussion/index.ts'

/** A merge request as notes, todos and subscriptions refer to it. */
export const asNoteable = ({
  id,
  project_id,
}: {
  readonly id: number
  readonly project_id: number
}): PlannedNoteable => ({
  type: 'MergeRequest',
  id,
  project_id,
})
