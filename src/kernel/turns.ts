const last = new Map<string, Promise<unknown>>()

/**
 * Runs `work` when all that was handed in before under the same key, in this process, has ended: so that those who would
 * get in one another's way wait instead of trying in vain. No lock: whatever must hold across processes needs another.
 */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
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
