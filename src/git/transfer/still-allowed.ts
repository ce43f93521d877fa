/** A client may send for hours; how often its rights are checked again, in milliseconds. */
const checkMs = 900

/** Asks `requireStill` again, but not more often than every 0.9 s, and not before that time has passed: the rights have just been checked. */
export function askingAgain(requireStill: (() => Promise<void>) | undefined): () => Promise<void> {
  let checkedAt = performance.now()
  return async () => {
    if (performance.now() - checkedAt < checkMs) return
    await requireStill?.()
    checkedAt = performance.now()
  }
}
