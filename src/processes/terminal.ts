/** Output for the user: results to `out`, errors to `err`. */
export type Terminal = Readonly<{ out(line: string): void; err(line: string): void }>

/** A request to stop, from the user or the system. A second one cuts the grace period short. */
export type StopRequest = Readonly<{ asked: Promise<void>; isAsked(): boolean; urgent: Promise<void> }>

/** One request often arrives twice: from the terminal, and forwarded by npm. */
const sameRequestMs = 1_000

/** How often the parent process is checked, in milliseconds. */
const parentCheckMs = 500

/**
 * Listens to SIGTERM, SIGINT and SIGHUP, and to the end of a parent that started us with a channel. Under npm, listens to
 * the end of any parent: `npm exec` passes signals to a shell that does not pass them on.
 */
export function listenForStop(): StopRequest {
  const asked = Promise.withResolvers<void>()
  const urgent = Promise.withResolvers<void>()
  let askedAt: number | undefined
  const ask = () => {
    if (askedAt === undefined) {
      askedAt = performance.now()
      asked.resolve()
    } else if (performance.now() - askedAt > sameRequestMs) urgent.resolve()
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
