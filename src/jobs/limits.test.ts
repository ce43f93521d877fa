import { describe, expect, test } from 'vitest'
import { Limits } from './limits.ts'

const retry = { retryMs: expect.any(Number) }

describe('limits of jobs', () => {
  test('a job is refused while one of its limits is reached, and admitted after the other job ends', () => {
    const limits = new Limits()
    const first = limits.enter('a', { all: 2, host: 1 })
    expect(first).toMatchObject({ leave: expect.any(Function) })
    expect(limits.enter('b', { all: 2, host: 1 })).toEqual(retry)
    expect(limits.enter('c', { all: 2, other: 1 })).not.toEqual(retry)
    expect(limits.enter('d', { all: 2, third: 1 })).toEqual(retry)
    if ('leave' in first) first.leave()
    expect(limits.enter('b', { all: 2, host: 1 })).not.toEqual(retry)
  })

  test('the delay of refused jobs grows with their number, so that their retries per second are limited', () => {
    const limits = new Limits()
    limits.enter('a', { all: 1 })
    const delays = Array.from({ length: 1000 }, (_, n) => limits.enter(`job ${n}`, { all: 1 })).map((refused) =>
      'retryMs' in refused ? refused.retryMs : 0,
    )
    expect([delays.at(0), delays.at(-1)]).toEqual([2000, 100_000])
    expect(limits.enter('job 0', { all: 1 })).toEqual({ retryMs: 100_000 })
  })
})
