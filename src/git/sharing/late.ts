import { setTimeout as delay } from 'node:timers/promises'

/** Whether a promise does not settle within this time in milliseconds. Rejects as it does. */
export async function isLate(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = delay(ms, true, { signal: timer.signal, ref: false }).catch(() => false)
  try {
    return await Promise.race([promise.then(() => false), late])
  } finally {
    timer.abort()
  }
}
