import type { PlannedNoteable } from '../../discussion/index.ts'

/** An issue as notes, todos and subscriptions refer to it. */
export const asNoteable = ({
  id,
  project_id,
}: {
  readonly id: number
  readonly project_id: number
}): PlannedNoteable => ({
  type: 'Issue',
  id,
  project_id,
})
