import { expect, test } from 'vitest'
import type { ProjectSubject } from '../../projects/index.ts'
import type { MergeRequestRow } from './queries.ts'
import { mergeRequestFacts } from './subject.ts'

test('a locked discussion is locked for callers who are no members of the project', () => {
  const project = (level: number) =>
    ({ facts: { visibility: 20, level, features: {}, flags: { archived: true } } }) as unknown as ProjectSubject
  const row = (discussion_locked: boolean | null) => ({ own: true, discussion_locked }) as MergeRequestRow
  for (const [discussion_locked, level, locked] of [
    [true, 0, true],
    [true, 10, false],
    [true, 20, false],
    [false, 0, false],
    [null, 0, false],
  ] as const)
    expect(mergeRequestFacts(row(discussion_locked), project(level)).flags).toEqual({
      archived: true,
      own: true,
      locked,
    })
})
