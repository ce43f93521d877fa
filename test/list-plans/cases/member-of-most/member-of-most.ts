import { beforeAll, describe } from 'vitest'
import { commonFiltersOfMember } from './common-filters.ts'
import { addMemberships } from './member.ts'
import { pagesOfMember } from './pages.ts'
import { statisticsOfMember } from './statistics.ts'

export function memberOfMostProjects(): void {
  describe('a member of most projects', () => {
    beforeAll(addMemberships)

    pagesOfMember()
    statisticsOfMember()
    commonFiltersOfMember()
  })
}
