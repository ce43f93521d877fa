import { describe, expect, test } from 'vitest'
import { positionBetween, spread, step } from './spacing.ts'

describe('positions of issues', () => {
  test('a position is between its neighbours, or a step from the only one', () => {
    expect(positionBetween(undefined, undefined)).toBe(0)
    expect(positionBetween(10, undefined)).toBe(10 + step)
    expect(positionBetween(undefined, 10)).toBe(10 - step)
    expect(positionBetween(10, 20)).toBe(15)
    expect(positionBetween(-3, 0)).toBe(-2)
  })

  test('there is no position between neighbours without a whole number between them', () => {
    expect(positionBetween(10, 11)).toBeUndefined()
    expect(positionBetween(10, 10)).toBeUndefined()
    expect(positionBetween(-1, 0)).toBeUndefined()
  })

  test('twenty places are free between two issues that are placed one after the other', () => {
    let [before, count] = [0, 0]
    for (let middle = positionBetween(before, step); middle !== undefined; middle = positionBetween(before, step)) {
      before = middle
      count++
    }
    expect(count).toBe(20)
  })

  test('spread issues have equal distances, and none if these would be small', () => {
    expect(spread(0, 3, 4096)).toEqual([1024, 2048, 3072])
    expect(spread(0, 3, 4095)).toBeUndefined()
    expect(spread(7, 2, undefined)).toEqual([7 + step, 7 + 2 * step])
  })
})
