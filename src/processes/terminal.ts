/** Output for the user: results to `out`, errors to `err`. */
export type Terminal = Readonly<{ out(line: string): void; err(line: string): void }>

/** A request to stop, from the user or the system. A second one cuts the grace period short. */
export type StopRequest = Readonly<{ asked: Promise<void>; isAsked(): boolean; urgent: Promise<void> }>

/** One request often arrives twice: from the terminal, and forwarded by npm. */
const sameRequestMs = 1_000

/** Listens to SIGTERM, SIGINT and SIGHUP, and to the end of a parent that has a channel to this process. */
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
  return { asked: asked.promise, isAsked: () => askedAt !== undefined, urgent: urgent.promise }
}
