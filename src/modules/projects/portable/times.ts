import { moment } from '../../../db/portable/columns.ts'

/** Whether a value of an archive is a time as records have it. */
export const isWellFormedTime = (value: unknown): value is string => moment.accepts(value)
