import type { World } from '../world.ts'
import { change } from './statements.ts'

/** Opens a closed issue again, without further effects. */
export const reopenIssue = (world: World, id: number) =>
  change(world, 'issues', { id }, { state: 'opened', closed_at: null, closed_by_id: null })
