import { type Logger, type LoggerOptions, pino } from 'pino'
import { plainLine } from './plain-line.ts'

/** A batch is written when it reaches this size, and at every interval. */
const batchBytes = 64 * 1024
const flushMs = 1000
/** Warnings and above are written at once, because the process may be about to end. */
const urgentLevel = 40

let second = Number.NaN
let secondText = ''

/** As `pino.stdTimeFunctions.isoTime`, with the text of each second made once: a date costs as much as the rest of a line. */
function isoTime(): string {
  const now = new Date()
  const milliseconds = now.getUTCMilliseconds()
  if (now.getTime() - milliseconds !== second) {
    second = now.getTime() - milliseconds
    secondText = `,"time":"${new Date(second).toISOString().slice(0, -'000Z'.length)}`
  }
  return `${secondText}${String(milliseconds).padStart(3, '0')}Z"`
}

/** The log of this process, on standard output. Disposing it writes what is buffered. */
export type Log = { readonly log: Logger } & Disposable

/**
 * JSON lines with time and level by name; on a terminal, text. Passes lines to the writer in batches: the writer measures its whole buffer anew for each write, so writing line by line is
 * quadratic.
 */
export function openLog(level: NonNullable<LoggerOptions['level']>): Log {
  const output = pino.destination({ sync: false, minLength: batchBytes, maxWrite: 4 * batchBytes })
  const isRead = process.stdout.isTTY === true
  let lines = ''
  const handOver = () => {
    if (lines !== '') output.write(lines)
    lines = ''
  }
  const flush = () => {
    handOver()
    output.flush()
  }
  // Pino sets `lastLevel` on a stream that requests metadata.
  const batches = {
    [pino.symbols.needsMetadataGsym]: true as const,
    lastLevel: 0,
    write(line: string) {
      lines += isRead ? plainLine(line) : line
      if (lines.length >= batchBytes || this.lastLevel >= urgentLevel) handOver()
    },
  }
  const flushing = setInterval(flush, flushMs).unref()
  return {
    log: pino(
      {
        level,
        base: { pid: process.pid },
        timestamp: isoTime,
        formatters: { level: (name) => ({ level: name }) },
      },
      batches,
    ),
    [Symbol.dispose]() {
      clearInterval(flushing)
      flush()
    },
  }
}
