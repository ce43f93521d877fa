import { expect, test } from 'vitest'
import type { GroupRow } from './queries.ts'
import { groupFacts } from './subject.ts'

const flagsOf = (more: Partial<GroupRow>) => groupFacts({ visibility: 0, level: null, ...more } as GroupRow).flags

test('members from developer up create projects in a group that lets developers', () => {
  for (const [project_creation_level, level, may] of [
    ['developer', 20, false],
    ['developer', 30, true],
    ['developer', 40, true],
    ['developer', null, false],
    ['maintainer', 30, false],
    ['noone', 30, false],
  ] as const)
    expect(flagsOf({ project_creation_level, level })).toMatchObject({
      developers_create_projects: may,
      nobody_creates_projects: project_creation_level === 'noone',
    })
})

test('members from maintainer up create subgroups in a group that lets maintainers', () => {
  for (const [subgroup_creation_level, level, may] of [
    ['maintainer', 30, false],
    ['maintainer', 40, true],
    ['maintainer', 50, true],
    ['maintainer', null, false],
    ['owner', 40, false],
  ] as const)
    expect(flagsOf({ subgroup_creation_level, level })).toMatchObject({ maintainers_create_subgroups: may })
})
