import { getHeapStatistics } from 'node:v8'

/** Interval between looks at what the process does. */
const lookEveryMs = 15_000
/** CPU time of an idle process, for its timers and a request now and then, as a part of the time. */
const idleBelow = 0.03
/** Objects made since the last collection that are worth another one, in bytes. */
const worthBytes = 16 * 1024 * 1024

/**
 * Collects garbage while the process has nothing to do. V8 collects when objects are made, so a process keeps what its start, or a load, left
 * until the next one: a third of the memory of a worker at rest. Needs the flag `--expose-gc`. Stops when disposed.
 */
export function collectWhenIdle(collect = globalThis.gc, everyMs = lookEveryMs): Disposable {
  let cpuBefore = process.cpuUsage()
  let lookedAt = performance.now()
  let keptBytes = 0
  const look = () => {
    const { user, system } = process.cpuUsage(cpuBefore)
    const isIdle = (user + system) / 1000 < (performance.now() - lookedAt) * idleBelow
    cpuBefore = process.cpuUsage()
    lookedAt = performance.now()
    if (!isIdle || usedBytes() < keptBytes + worthBytes) return
    // Also returns pages to the system that V8 would keep for later objects.
    collect?.({ flavor: 'last-resort' })
    keptBytes = usedBytes()
  }
  const timer = setInterval(look, everyMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const usedBytes = (): number => getHeapStatistics().used_heap_size
