import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { benchFolder } from './data.ts'
import { median } from './figures.ts'
import type { Memory } from './memory.ts'
import { startService } from './service.ts'

export type StartTimes = { firstMs: number; warmMs: number; idle: Memory[] }

/** Time without requests until the service is idle. */
const settleMs = 30_000

/** Starts on an empty folder, then again on the result; measures memory when idle. */
export async function startTimes(processes: number, rounds: number): Promise<StartTimes> {
  mkdirSync(benchFolder, { recursive: true })
  const dataDir = mkdtempSync(join(benchFolder, 'start-'))
  try {
    const startAndStop = async () => {
      await using service = await startService(dataDir, processes)
      return service.startMs
    }
    const firstMs = await startAndStop()
    const warm: number[] = []
    for (let round = 0; round < rounds; round++) warm.push(await startAndStop())
    await using service = await startService(dataDir, processes)
    await delay(settleMs)
    return { firstMs, warmMs: median(warm), idle: service.memory() }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
