/** Output for the user: results to `out`, errors to `err`. `isInteractive` if a user reads `out` as it is written. */
export type Terminal = Readonly<{
  out(line: string): void
  err(line: string): void
  isInteractive?: boolean
  /** Replaces the line of progress that a user sees; the empty text removes it. Absent if no user sees it. */
  status?(line: string): void
}>

/** Reports of the service about itself. `fields` are for programs. */
export type Notices = Readonly<{ say(line: string, fields?: object): void }>

/** Lines of text on a terminal; elsewhere JSON with the fields of the log, to which the other processes write as well. */
export const noticesOn = ({ out, isInteractive }: Terminal): Notices =>
  isInteractive
    ? { say: (line) => out(line) }
    : {
        say: (msg, fields) =>
          out(JSON.stringify({ level: 'info', time: new Date().toISOString(), pid: process.pid, ...fields, msg })),
      }

/** A request to stop, from the user or the system. A second one cuts the grace period short. */
export type StopRequest = Readonly<{ asked: Promise<void>; isAsked(): boolean; urgent: Promise<void> }>

/** Under npm or a starter, one request arrives twice: from the terminal, and forwarded by the parent. */
const sameRequestMs = 500

/** How often the parent process is checked, in milliseconds. */
const parentCheckMs = 500

/**
 * Listens to SIGTERM, SIGINT and SIGHUP, and to the end of a parent that started us with a channel. Under npm, listens to
 * the end of any parent: `npm exec` passes signals to a shell that does not pass them on.
 */
export function listenForStop(): StopRequest {
  const asked = Promise.withResolvers<void>()
  const urgent = Promise.withResolvers<void>()
  const isForwarded = process.env['npm_lifecycle_event'] !== undefined || process.connected
  let askedAt: number | undefined
  const ask = () => {
    if (askedAt === undefined) {
      askedAt = performance.now()
      asked.resolve()
    } else if (!isForwarded || performance.now() - askedAt > sameRequestMs) urgent.resolve()
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, ask)
  process.on('disconnect', ask)
  if (process.env['npm_lifecycle_event'] !== undefined) onParentEnd(ask)
  return { asked: asked.promise, isAsked: () => askedAt !== undefined, urgent: urgent.promise }
}

function onParentEnd(then: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    then()
  }, parentCheckMs)
  timer.unref()
}
