const last = new Map<string, Promise<unknown>>()

/**
 * Runs `work` after all earlier work with the same key in this process has ended, so that competing operations wait instead of
 * failing. Not a lock across processes.
 */
export async function runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = last.get(key)
  const mine = (async () => {
    await before?.catch(() => {})
    return work()
  })()
  last.set(key, mine)
  try {
    return await mine
  } finally {
    if (last.get(key) === mine) last.delete(key)
  }
}
