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

/** What chance finds may be a moment in which the machine was busy: it counts if it is found with each of these. */
const seeds = [0, 1, 2] as const

async function analysed(source: string, flags: string) {
  const [first, ...others] = seeds
  const result = await check(source, flags, { timeout, randomSeed: first })
  if (result.checker !== 'fuzz') return result
  for (const randomSeed of others) {
    if (result.status !== 'vulnerable') return result
    const again = await check(source, flags, { timeout, randomSeed })
    if (again.status !== 'vulnerable') return again
  }
  return result
}

/** Analyses literal expressions. */
export async function slowExpressions(literals: readonly string[]): Promise<Found> {
  const [slow, undecided] = [new Map<string, string>(), new Set<string>()]
  const open = [...literals]
  const work = async () => {
    for (let literal = open.pop(); literal !== undefined; literal = open.pop()) {
      const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(literal)!
      const result = await analysed(source!, flags!)
      if (result.status === 'vulnerable')
        slow.set(literal, `takes ${result.complexity.summary} time, for example for ${result.attack.pattern}`)
      else if (result.status === 'unknown') undecided.add(literal)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { slow, undecided }
}
