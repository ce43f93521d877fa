import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { encodeLongJson, isLongJson } from './long-json.ts'

const many = (of: unknown) => Array.from({ length: 300 }, () => of)

describe('long JSON', () => {
  test.each([
    ['a list', many({ id: 1, title: 'Grüße 🎉', none: undefined })],
    ['values that lists write as null', many(undefined)],
    ['a property', { commits: many('a'), none: undefined, compare_timeout: false, diffs: [] }],
    ['two properties, after one that is left out', { none: undefined, commits: many(1), diffs: many({ a: [null] }) }],
    ['quotes in a name', { 'a"b': many(new Date(0)) }],
    ['slices', many('x'.repeat(3_000))],
  ])('%s is what JSON.stringify makes of it', async (_, value) => {
    expect(isLongJson(value)).toBe(true)
    const { bytes, md5 } = await encodeLongJson(value)
    const text = JSON.stringify(value)
    expect(bytes.toString()).toBe(text)
    expect(md5).toBe(createHash('md5').update(text).digest('hex'))
  })

  test.each([
    ['short lists', { a: [1, 2] }],
    ['text', 'a'],
    ['nothing', null],
    ['a date', new Date()],
  ])('%s is not long', (_, value) => {
    expect(isLongJson(value)).toBe(false)
  })

  test('other requests have their turn while a list of 50 MB is encoded', async () => {
    let turns = 0
    let isOver = false
    const other = async () => {
      while (!isOver) {
        await setImmediate()
        turns++
      }
    }
    const all = other()
    await encodeLongJson(Array.from({ length: 5_000 }, () => 'é'.repeat(5_000)))
    isOver = true
    await all
    expect(turns).toBeGreaterThan(1)
  })
})
