import { check } from 'recheck'

/** The analysis itself may take exponential time. */
const timeout = 10_000
/** As many as there are processors on a small machine. */
const atOnce = 2

type Found = {
  /** Those that may take more than linear time, each with how much and for which text. */
  readonly slow: ReadonlyMap<string, string>
  /** Those of which that is not known, because the analysis took too long. */
  readonly undecided: ReadonlySet<string>
}

/** Analyses literal expressions. */
export async function slowExpressions(literals: readonly string[]): Promise<Found> {
  const [slow, undecided] = [new Map<string, string>(), new Set<string>()]
  const open = [...literals]
  const work = async () => {
    for (let literal = open.pop(); literal !== undefined; literal = open.pop()) {
      const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(literal)!
      const result = await check(source!, flags!, { timeout })
      if (result.status === 'vulnerable')
        slow.set(literal, `takes ${result.complexity.summary} time, for example for ${result.attack.pattern}`)
      else if (result.status === 'unknown') undecided.add(literal)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { slow, undecided }
}
