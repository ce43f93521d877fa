import { expect, test } from 'vitest'
import { listUsers } from './queries.ts'

test('a filter by a hundred custom attributes is no longer than one by six, as PostgreSQL plans each condition for milliseconds', () => {
  const textOf = (count: number) =>
    listUsers({ custom_attributes: Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v'])) })
      .where.map(({ strings }) => strings.join('?'))
      .join(' and ')
  expect(textOf(6)).toContain('custom_attributes')
  expect(textOf(100)).toBe(textOf(6))
})
