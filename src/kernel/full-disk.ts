import { Failure } from './failure.ts'

/** Of the system, and the SQLSTATE `disk_full`. */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100'])

/** Whether an error says that a disk or a quota is full. */
export const isDiskFull = (error: unknown): boolean => codes.has((error as NodeJS.ErrnoException | null)?.code)

/** Whether work failed only for lack of room, which is made later than after a few attempts: such an attempt is not counted. */
export const lacksRoom = (error: unknown): boolean =>
  isDiskFull(error) || (error instanceof Failure && error.kind === 'storage_full')
