/** Of the system, and the SQLSTATE `disk_full`. */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100'])

/** Whether an error says that a disk or a quota is full. */
export const isDiskFull = (error: unknown): boolean => codes.has((error as NodeJS.ErrnoException | null)?.code)
