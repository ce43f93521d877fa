import { check } from 'recheck'

/** An expression that is not decided within this time passes: the analysis itself may take exponential time. */
const timeout = 10_000
/** As many as there are processors on a small machine. */
const atOnce = 2

/** Those of the literal expressions that may take more than linear time, each with how much and for which text. */
export async function slowExpressions(literals: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const slow = new Map<string, string>()
  const open = [...literals]
  const work = async () => {
    for (let literal = open.pop(); literal !== undefined; literal = open.pop()) {
      const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(literal)!
      const result = await check(source!, flags!, { timeout })
      if (result.status === 'vulnerable')
        slow.set(literal, `takes ${result.complexity.summary} time, for example for ${result.attack.pattern}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return slow
}
