import { expect } from 'vitest'

/** CPU time that this thread spends on `work`, in microseconds. Other processes and threads do not count. */
function costOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return user + system
}

const attempts = 10

/**
 * Asserts that `work` takes time proportional to its size, for code whose steps cannot be counted: regular expressions. Four
 * times the size must cost less than eight times as much; quadratic work would cost sixteen times. One pair of measurements
 * that shows it is enough, since a disturbance can only add to the cost of linear work. `size` is so large that quadratic
 * work takes far longer than the millisecond below which nothing is measured.
 */
export function expectLinear(work: (size: number) => unknown, size: number): void {
  const ratios: number[] = []
  while (ratios.length < attempts) {
    const small = Math.max(
      costOf(() => work(size)),
      1_000,
    )
    const ratio = costOf(() => work(4 * size)) / small
    if (ratio < 8) return
    ratios.push(ratio)
  }
  expect.fail(`four times the size costs more than eight times as much: ${ratios.map((each) => each.toFixed(1))}`)
}

/**
 * Asserts that requests cost this thread about the same, although one of them is about much more: less than four times as much, in one of
 * several measurements. They differ each time, so that no answer is cached.
 */
export async function expectSameCost(little: () => Promise<unknown>, much: () => Promise<unknown>): Promise<void> {
  const costs: string[] = []
  const measured = async (work: () => Promise<unknown>) => {
    const before = process.threadCpuUsage()
    await work()
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  }
  while (costs.length < attempts) {
    const small = Math.max(await measured(little), 5_000)
    const large = await measured(much)
    if (large < 4 * small) return
    costs.push(`${small} and ${large}`)
  }
  expect.fail(`one costs more than four times as much as the other, in microseconds: ${costs.join('; ')}`)
}
