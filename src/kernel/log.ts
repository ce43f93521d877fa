import { type Logger, type LoggerOptions, pino } from 'pino'

/** So much of the log is written at once, and what there is each second. */
const batchBytes = 64 * 1024
const flushMs = 1000
/** Warnings, errors and what is worse do not wait: the process may be about to end. */
const urgentLevel = 40

/** The log of this process, to standard output. Disposing writes what is left. */
export type Log = { readonly log: Logger } & Disposable

/**
 * Lines go to the writer in batches: handed over one by one, each costs as much as all that wait with it, because the
 * writer measures its last buffer anew.
 */
export function openLog(level: NonNullable<LoggerOptions['level']>): Log {
  const output = pino.destination({ sync: false, minLength: batchBytes, maxWrite: 4 * batchBytes })
  let lines = ''
  const handOver = () => {
    if (lines !== '') output.write(lines)
    lines = ''
  }
  const flush = () => {
    handOver()
    output.flush()
  }
  // Pino passes the level of each line to a stream that requests it.
  const batches = {
    [pino.symbols.needsMetadataGsym]: true as const,
    lastLevel: 0,
    write(line: string) {
      lines += line
      if (lines.length >= batchBytes || this.lastLevel >= urgentLevel) handOver()
    },
  }
  const flushing = setInterval(flush, flushMs).unref()
  return {
    log: pino({ level, base: { pid: process.pid } }, batches),
    [Symbol.dispose]() {
      clearInterval(flushing)
      flush()
    },
  }
}
