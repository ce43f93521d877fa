import { afterAll, beforeAll } from 'vitest'
import { everyList } from '../list-plans/cases/every-list.ts'
import { feedOfAuthor } from '../list-plans/cases/feed.ts'
import { filteredPages } from '../list-plans/cases/filters.ts'
import { latePageOfNamespaces, statisticsOfTheInstallation } from '../list-plans/cases/installation.ts'
import { labelsOfGroups } from '../list-plans/cases/labels-of-groups.ts'
import { largeProject } from '../list-plans/cases/large-project.ts'
import { latePages } from '../list-plans/cases/late-pages.ts'
import { manyNames } from '../list-plans/cases/many-names.ts'
import { memberOfMostProjects } from '../list-plans/cases/member-of-most/member-of-most.ts'
import { narrowProjects } from '../list-plans/cases/narrow-projects.ts'
import { narrowUpdates } from '../list-plans/cases/narrow-updates.ts'
import { onePlanForComments } from '../list-plans/cases/one-plan-for-comments.ts'
import { onePlanForProjects } from '../list-plans/cases/one-plan-for-projects.ts'
import { openAmongClosed } from '../list-plans/cases/open-among-closed.ts'
import { pagesWithTotals } from '../list-plans/cases/pages-with-totals.ts'
import { privateProjects } from '../list-plans/cases/private-projects.ts'
import { labelsInAProject, membersFindRowsInIndexes } from '../list-plans/cases/project-labels.ts'
import { pushedCommits } from '../list-plans/cases/pushed-commits.ts'
import { recordsCountComments, recordsOfMergeRequests } from '../list-plans/cases/records.ts'
import { sampledText } from '../list-plans/cases/sampled-text.ts'
import { searches } from '../list-plans/cases/search/search.ts'
import { slicedPages } from '../list-plans/cases/slices.ts'
import { updatedAfterATime } from '../list-plans/cases/updated-after.ts'
import { startSeeded, stopSeeded } from '../list-plans/seeded.ts'

beforeAll(startSeeded)
afterAll(stopSeeded)

// The database is seeded once. Some cases add rows that later ones read, so the order is part of the test.
everyList()
updatedAfterATime()
pagesWithTotals()
privateProjects()
filteredPages()
onePlanForProjects()
narrowProjects()
searches()
onePlanForComments()
membersFindRowsInIndexes()
labelsInAProject()
memberOfMostProjects()
openAmongClosed()
labelsOfGroups()
statisticsOfTheInstallation()
latePageOfNamespaces()
pushedCommits()
latePages()
sampledText()
slicedPages()
manyNames()
recordsOfMergeRequests()
narrowUpdates()
recordsCountComments()
feedOfAuthor()
largeProject()
