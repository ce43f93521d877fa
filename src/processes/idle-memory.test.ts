import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test, vi } from 'vitest'
import { collectWhenIdle } from './idle-memory.ts'

const everyMs = 100
/** Other work on the machine may keep the process busy. */
const within = { timeout: 30_000 }
let kept: unknown[] = []
/** Objects of about 40 MB. */
const allocate = () => {
  kept = Array.from({ length: 20 }, (_, n) => Array.from({ length: 256 * 1024 }, (_, m) => n + m))
}
const looks = (count: number) => delay(count * everyMs)

setFlagsFromString('--expose-gc')
/** Collects, so that no garbage of other tests is there, the end of which would outweigh new objects. */
const gc: () => void = runInNewContext('gc')

afterEach(() => {
  kept = []
})

test('garbage is collected while the process is idle, and again only after many new objects', async () => {
  const collect = vi.fn(() => Promise.resolve(gc()))
  using _collector = collectWhenIdle(collect, everyMs)
  await vi.waitFor(() => expect(collect).toHaveBeenCalledTimes(1), within)
  await looks(4)
  expect(collect).toHaveBeenCalledTimes(1)
  allocate()
  await vi.waitFor(() => expect(collect).toHaveBeenCalledTimes(2), within)
  expect(kept).toHaveLength(20)
})

test('a busy process does not collect', async () => {
  const collect = vi.fn()
  // Long enough that a busy process has the processor for a part of it, whatever else the machine does.
  const longMs = 5 * everyMs
  using _collector = collectWhenIdle(collect, longMs)
  const until = performance.now() + 2.5 * longMs
  while (performance.now() < until) await nextTurn()
  expect(collect).not.toHaveBeenCalled()
})
