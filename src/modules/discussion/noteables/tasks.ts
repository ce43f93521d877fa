import { Type } from 'typebox'
import { tasksOf } from '../../../markdown/parser.ts'

/** Longer descriptions are not parsed, because a page may have a hundred. */
const maxParsedLength = 16_384

/** A line that is a task unless it is code. */
const task = /^[ \t]*(?:>[ \t]*)*(?:[-+*]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+\S/gm

/**
 * Tasks of a description: list items that begin with `[ ]`, or `[x]` if completed, but not in code or HTML. In a long description lines
 * that look like tasks count.
 */
export function countTasks(description: string | null): { count: number; completed_count: number } {
  const tasks = description === null || !/\[[ xX]\]/.test(description) ? [] : marksOf(description)
  return { count: tasks.length, completed_count: tasks.filter((isDone) => isDone).length }
}

const marksOf = (description: string): boolean[] =>
  description.length > maxParsedLength
    ? [...description.matchAll(task)].map(([, mark]) => mark !== ' ')
    : tasksOf(description)

/** The field `task_completion_status` of records. */
export const TaskCompletionSchema = Type.Object(
  {
    count: Type.Integer({ description: 'Number of items' }),
    completed_count: Type.Integer({ description: 'Number of checked items' }),
  },
  { title: 'TaskCompletionStatus' },
)
