import { expect, test, vi } from 'vitest'
import { within } from './late.ts'

const never = new Promise<never>(() => {})

test('work that does not end in time has the outcome that the caller chooses', async () => {
  expect(await within(1, never, () => 'late')).toBe('late')
  const fail = () => {
    throw new Error('too late')
  }
  await expect(within(1, never, fail)).rejects.toThrow('too late')
})

test('work that ends in time leaves no timer, whether it succeeds or fails', async () => {
  vi.useFakeTimers()
  try {
    expect(await within(1000, Promise.resolve('done'), () => 'late')).toBe('done')
    await expect(within(1000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed')
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
