import { randomBytes } from 'node:crypto'

const pattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{8}$/

/** Whether a name is the id of a backup, such as `20261123T101530Z-1a2b3c4d`. Ids sort by time. */
export const isBackupId = (name: string): boolean => pattern.test(name)

/** The time in an id. */
export function timeOf(id: string): Date {
  const [, year, month, day, hour, minute, second] = pattern.exec(id)!
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/**
 * An id for a backup of this moment. It sorts after the last one, also if that is of the same second, or if the clock was set back: otherwise
 * the newest backup would be taken for an old one, and removed.
 */
export function newBackupId(moment: Date, last: string | undefined): string {
  const time = new Date(Math.max(moment.getTime(), last === undefined ? 0 : timeOf(last).getTime() + 1000))
  return `${time.toISOString().replace(/[-:]|\.\d+/g, '')}-${randomBytes(4).toString('hex')}`
}
