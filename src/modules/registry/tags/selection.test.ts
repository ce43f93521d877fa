import { expect, test, vi } from 'vitest'
import type { ContentDigest } from '../names/digests.ts'
import type { Candidate } from './queries.ts'
import { selectTags } from './selection.ts'

const tag = (name: string): Candidate => ({ name, digest: name as ContentDigest, image_created_at: null })

test('other work has its turn while many tags are matched by a slow expression', async () => {
  let ms = 0
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => ms++)
  const tags = Array.from({ length: 1000 }, (_, n) => tag(`v${n}`))
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  expect(await selectTags(tags, { delete: 'v1', keep: 'v2' }, new Date())).toEqual(['v1'])
  isOver = true
  expect(turns).toBeGreaterThan(1)
})

test.for([
  ['(?m)a', ['a']],
  ['a|b', ['a', 'b']],
  ['\\Qa.b', ['a.b']],
  ['(?i)A', ['a']],
  ['a)(?:.b', []],
  ['(.{1,999})?'.repeat(23), []],
] as const)(
  'the expression %s chooses the tags %j of a, b and a.b by their whole names',
  async ([expression, chosen]) => {
    expect(await selectTags(['a', 'b', 'a.b'].map(tag), { delete: expression }, new Date())).toEqual(chosen)
  },
)
