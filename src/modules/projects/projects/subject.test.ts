import { describe, expect, test } from 'vitest'
import type { ProjectRow } from './queries.ts'
import { projectFacts, projectName } from './subject.ts'

const row = {
  visibility: 0,
  level: null,
  archived: false,
  public_builds: true,
  import_status: 'none',
  repository_access_level: 20,
  forking_access_level: 20,
} as ProjectRow

const flagsOf = (more: Partial<ProjectRow>) => projectFacts({ ...row, ...more }).flags

describe('facts of a project', () => {
  test.for([
    ['none', false],
    ['scheduled', true],
    ['started', true],
    ['finished', false],
    ['failed', false],
  ] as const)('with an import that is %s, the project is being created: %s', ([import_status, importing]) => {
    expect(flagsOf({ import_status })).toMatchObject({ importing })
  })

  test('members from guest up are guests of public jobs', () => {
    for (const [level, public_builds, isGuest] of [
      [null, true, false],
      [0, true, false],
      [10, true, true],
      [40, true, true],
      [10, false, false],
    ] as const)
      expect(flagsOf({ level, public_builds })).toMatchObject({
        private_jobs: !public_builds,
        guest_of_public_jobs: isGuest,
      })
  })

  test('forking needs the repository', () => {
    const of = (forking_access_level: number, repository_access_level: number) =>
      projectFacts({ ...row, forking_access_level, repository_access_level }).features['forking']
    expect([of(20, 0), of(0, 20), of(20, 20)]).toEqual([0, 0, 20])
  })
})

test('digits are the id of a project, other text with a slash its path', () => {
  expect(['12', '12.json', 'a/12', 'group/path', 'path'].map(projectName)).toEqual([
    12,
    12,
    'a/12',
    'group/path',
    undefined,
  ])
})
