import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import type { Tx } from '../../../db/db.ts'
import { enqueue, enqueueEach, job } from '../../../jobs/job.ts'
import {
  aboveAllNumbers,
  copyLabelPriorities,
  copyMilestoneDue,
  type LabelUse,
  lockLabelled,
  lockLabels,
} from './queries.ts'

/** Issues that change in the transaction of the change that they follow; the others follow in a job. */
const changedAtOnce = 1_000

export const copyDueDateOfMilestone = job({
  name: 'copy_due_date_of_milestone',
  input: Type.Object({ milestone_id: Type.Integer() }),
  key: ({ milestone_id }) => `copy_due_date_of_milestone:${milestone_id}`,
  attempts: 10,
  run: ({ milestone_id }, ctx) =>
    inBatches((size) => ctx.transaction((tx) => copyMilestoneDue(tx, milestone_id, size))),
})

/** Copies the changed due date of a milestone to its issues: to the first thousand at once, to the others in a job. */
export async function followDueDate(tx: Tx, milestoneId: number): Promise<void> {
  const changed = await copyMilestoneDue(tx, milestoneId, changedAtOnce)
  if (changed === changedAtOnce) await enqueue(tx, copyDueDateOfMilestone, { milestone_id: milestoneId })
}

export const copyPrioritiesOfLabel = job({
  name: 'copy_priorities_of_label',
  input: Type.Object({ project_id: Type.Integer(), label_id: Type.Integer() }),
  key: ({ project_id, label_id }) => `copy_priorities_of_label:${project_id}:${label_id}`,
  attempts: 10,
  run: async (use, ctx) => {
    let below: number | undefined = aboveAllNumbers
    while (below !== undefined) {
      const from: number = below
      below = await ctx.transaction((tx) => copyLabelPriorities(tx, use, from, changedAtOnce))
    }
  },
})

/** Before the priority of a label changes in a project: locks the issues that follow at once, and the label. */
export async function beginPriority(tx: Tx, use: LabelUse): Promise<void> {
  await lockLabelled(tx, use, changedAtOnce)
  // Before the row that refers to it locks it less: two changes would wait for each other.
  await lockLabels(tx, [use.label_id])
}

/** After `beginPriority` and the change: its newest thousand issues follow at once, the others in a job. */
export async function followPriority(tx: Tx, use: LabelUse): Promise<void> {
  const rest = await copyLabelPriorities(tx, use, aboveAllNumbers, changedAtOnce)
  if (rest !== undefined) await enqueue(tx, copyPrioritiesOfLabel, use)
}

/** After labels got priorities in several projects: issues follow in jobs. */
export async function followPriorities(tx: Tx, uses: readonly LabelUse[]): Promise<void> {
  if (uses.length === 0) return
  await lockLabels(tx, [...new Set(uses.map(({ label_id }) => label_id))])
  await enqueueEach(tx, copyPrioritiesOfLabel, uses)
}
