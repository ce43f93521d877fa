import { Type } from 'typebox'
import { tasksOf } from '../../../markdown/tasks.ts'

/** How many tasks a description has, and how many of them are done. */
export function countTasks(description: string | null): { count: number; completed_count: number } {
  const tasks = description === null ? [] : tasksOf(description)
  return { count: tasks.length, completed_count: tasks.filter((isDone) => isDone).length }
}

/** The field `task_completion_status` of records. */
export const TaskCompletionSchema = Type.Object(
  {
    count: Type.Integer({ description: 'Number of items' }),
    completed_count: Type.Integer({ description: 'Number of checked items' }),
  },
  { title: 'TaskCompletionStatus' },
)
