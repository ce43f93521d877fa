import { type Logger, type LoggerOptions, pino } from 'pino'

/** So much of the log is written at once, and what there is each second. */
const batchBytes = 64 * 1024
const flushMs = 1000

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
  const write = (line: string) => {
    lines += line
    if (lines.length >= batchBytes) handOver()
  }
  const flushing = setInterval(flush, flushMs).unref()
  return {
    log: pino({ level, base: { pid: process.pid } }, { write }),
    [Symbol.dispose]() {
      clearInterval(flushing)
      flush()
    },
  }
}
