import { expect, test } from 'vitest'
import { raw } from '../../../db/sql.ts'
import { hasCustomAttributes } from './attribute-queries.ts'

test('a filter by a hundred custom attributes is no longer than one by six, as PostgreSQL plans each condition for milliseconds', () => {
  const of = (count: number) =>
    hasCustomAttributes(
      raw('a.user_id'),
      raw('u.id'),
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v'])),
    )
  expect(of(100).strings.join().length).toBe(of(6).strings.join().length)
})
