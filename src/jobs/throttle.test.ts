import { describe, expect } from 'vitest'
import { test } from '../../test/world.ts'
import { Throttle } from './throttle.ts'

describe('job throttling', () => {
  test('work that is running is not due', async () => {
    const throttle = new Throttle(() => 0)
    const { promise, resolve } = Promise.withResolvers<void>()
    const running = throttle.run('a', () => promise)
    expect(throttle.delayMs('a')).toBeGreaterThan(0)
    expect(throttle.delayMs('b')).toBe(0)
    resolve()
    await running
    await expect(throttle.run('c', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(throttle.delayMs('c')).toBe(0)
  })

  test('a pause is nine times as long as the run, and five minutes at most', () => {
    let now = 1_000
    const throttle = new Throttle(() => now)
    expect(throttle.delayMs('a')).toBe(0)
    throttle.begin('a', 100)
    throttle.begin('b', 3_600_000)
    expect([throttle.delayMs('a'), throttle.delayMs('b'), throttle.delayMs('c')]).toEqual([900, 300_000, 0])
    now += 899
    expect(throttle.delayMs('a')).toBe(1)
    now += 1
    expect(throttle.delayMs('a')).toBe(0)
  })
})
