import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Layout } from './layout.ts'
import { giveTo, type Owner } from './owner.ts'

const longestBytes = 10 * 1024 * 1024
const lookEveryMs = 60_000

/** PostgreSQL's log. Its logging process would briefly outlive it, so PostgreSQL writes here directly. */
export const logFile = (layout: Layout): string => join(layout.log, 'postgresql.log')

/** A descriptor to append to. */
export function openLog(layout: Layout, owner: Owner): number {
  shorten(layout)
  const descriptor = openSync(logFile(layout), 'a', 0o600)
  giveTo(owner, logFile(layout))
  return descriptor
}

/** Keeps at most two files of 10 MB, until the interval is cleared. */
export const keepLogShort = (layout: Layout): NodeJS.Timeout => setInterval(() => shorten(layout), lookEveryMs).unref()

/** The end of the log. */
export const readLog = (layout: Layout): string => readFileSync(logFile(layout), 'utf8').slice(-10_000)

/** PostgreSQL appends, so after a truncation it continues at the new end. A line written in between is lost. */
function shorten(layout: Layout): void {
  const file = logFile(layout)
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < longestBytes) return
  copyFileSync(file, `${file}.1`)
  truncateSync(file)
}
