/** Where lines for a person go: results to `out`, complaints to `err`. */
export type Terminal = Readonly<{ out(line: string): void; err(line: string): void }>

/** A person, or the system, wants us to end. A second request cuts the grace short. */
export type StopRequest = Readonly<{ asked: Promise<void>; isAsked(): boolean; urgent: Promise<void> }>

/** One request often comes twice: from the terminal, and passed on by npm. */
const sameRequestMs = 1_000

/** Listens to SIGTERM, SIGINT and SIGHUP, and to a parent that started us with a channel and is gone. */
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
