import { Type } from 'typebox'

const task = /^[ \t]*(?:>[ \t]*)*(?:[-+*]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+\S/gm

/** Tasks of a description: list items that begin with `[ ]`, or `[x]` if completed. */
export function countTasks(description: string | null): { count: number; completed_count: number } {
  const marks = [...(description ?? '').matchAll(task)].map(([, mark]) => mark)
  return { count: marks.length, completed_count: marks.filter((mark) => mark !== ' ').length }
}

/** The field `task_completion_status` of records. */
export const TaskCompletionSchema = Type.Object(
  {
    count: Type.Integer({ description: 'Number of items' }),
    completed_count: Type.Integer({ description: 'Number of checked items' }),
  },
  { title: 'TaskCompletionStatus' },
)
