import { expect, test } from 'vitest'
import { countWords, grown } from '../../tools/english/words.ts'

test('the word count ignores case and counts only whole words', () => {
  const counts = countWords(['Somebody opens the door; indoors, nobody does.', 'He tells somebody. Others are told.'])
  expect(counts).toMatchObject({ somebody: 2, nobody: 1, door: 1, he: 1, 'is told': 1, 'so many': 0 })
})

test('a count above its limit is reported, one at or below it is not', () => {
  expect(grown({ door: 3, nobody: 2, patience: 0 }, { door: 3, nobody: 5 })).toEqual([])
  expect(grown({ door: 4 }, { door: 3 })).toEqual(['"door" occurs 4 times, limit 3'])
})

test('a word without a limit must not occur', () => {
  expect(grown({ patience: 1 }, {})).toEqual(['"patience" occurs 1 times, limit 0'])
})
