/**
 * Callers that ask while `work` runs, or until `keptMs` after its end, share one result: what anonymous clients may ask for costs the same
 * however often they ask, and work that hangs is not begun again.
 */
export function sharedResult<T>(work: () => Promise<T>, keptMs = 0): () => Promise<T> {
  let result: Promise<T> | undefined
  let endedAt: number | undefined
  return () => {
    const isOver = endedAt !== undefined && performance.now() - endedAt >= keptMs
    if (result && !isOver) return result
    endedAt = undefined
    result = work().finally(() => {
      endedAt = performance.now()
    })
    return result
  }
}
