import { expect, test } from 'vitest'
import { cachedByInputs } from './cached-by-inputs.ts'
import type { Plain } from './inputs.ts'

const roomy = { maximumBytes: 10_000, sizeOf: () => 1 }
/** A function that is cached, and how often it ran. */
function counted(options: Parameters<typeof cachedByInputs<Plain, { inputs: Plain }>>[1] = roomy) {
  const runs: Plain[] = []
  const cached = cachedByInputs((inputs: Plain) => {
    runs.push(inputs)
    return { inputs }
  }, options)
  return { cached, runs }
}

test('a function runs once for the same frozen object and equal other inputs', () => {
  const { cached, runs } = counted()
  const row = Object.freeze({ id: 1 })
  const first = cached({ row, within: ['a'] })
  expect(cached({ row, within: ['a'] })).toBe(first)
  expect(runs).toHaveLength(1)
})

test('a function runs again for another frozen object of the same content, and for other inputs', () => {
  const { cached, runs } = counted()
  const row = Object.freeze({ id: 1 })
  const inputs = [{ row }, { row: Object.freeze({ id: 1 }) }, { row, at: 1 }, { row, at: '1' }, { row, at: null }]
  expect(inputs.map((each) => cached(each).inputs)).toEqual(inputs)
  expect(runs).toHaveLength(inputs.length)
})

test('inputs whose key is long have results of their own', () => {
  const { cached } = counted()
  const row = Object.freeze({ id: 1 })
  const list = (last: string) => [...Array.from({ length: 500 }, (_, index) => `name ${index}`), last]
  const first = cached({ row, list: list('a') })
  expect(cached({ row, list: list('a') })).toBe(first)
  expect(cached({ row, list: list('b') }).inputs).toEqual({ row, list: list('b') })
})

test('a result is frozen, so that it names itself in the key of the next function', () => {
  const { cached, runs } = counted()
  const row = Object.freeze({ id: 1 })
  const next = counted()
  expect(next.cached(cached(row))).toBe(next.cached(cached(row)))
  expect([runs.length, next.runs.length]).toEqual([1, 1])
})

test('nothing is remembered for inputs without a frozen object, such as rows of a transaction', () => {
  const { cached, runs } = counted()
  cached({ id: 1 })
  cached({ id: 1 })
  expect(runs).toHaveLength(2)
})

test('the results that were used least recently are forgotten beyond the maximum size', () => {
  const { cached, runs } = counted({ maximumBytes: 2_000, sizeOf: () => 600 })
  const rows = [1, 2, 3].map((id) => Object.freeze({ id }))
  for (const row of rows) cached(row)
  cached(rows[2]!)
  expect(runs).toHaveLength(3)
  cached(rows[0]!)
  expect(runs).toHaveLength(4)
})
