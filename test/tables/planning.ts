import type { Tx } from '../../src/db/db.ts'
import { raw, sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'
import { change } from './statements.ts'

/** Opens a closed issue again, without further effects. */
export const reopenIssue = (world: World, id: number) =>
  change(world, 'issues', { id }, { state: 'opened', closed_at: null, closed_by_id: null })

/** Locks a row of planning until the transaction ends. */
export const lockPlanned = (tx: Tx, table: 'epic_issues' | 'epics' | 'issues' | 'labels' | 'milestones', id: number) =>
  tx.run(sql`select from ${raw(table)} where id = ${id} for update`)

/** Describes a label, whatever the limit of new descriptions is. */
export const describeLabel = (world: World, id: number, description: string) =>
  change(world, 'labels', { id }, { description })
