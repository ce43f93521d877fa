import { invalid } from '../../kernel/failure.ts'
import type { GroupSubject } from '../groups/subject.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { blobsInProject, commitsInProject } from './code.ts'
import { peopleInGroup, peopleInProject, peopleOfAll } from './people.ts'
import { projectsInGroup, projectsOfAll } from './projects.ts'
import type { SearchScope } from './scope.ts'

/** Known to clients, and not offered without an index over all code: an empty list would say that nothing is there. */
const unindexed = (name: string): SearchScope<unknown> => ({
  name,
  returns: [],
  async find() {
    throw invalid(`Scope ${name} is not supported without an index of all code: search within a project`)
  },
})

/** What can be searched in the whole installation. */
export const instanceScopes: readonly SearchScope<null>[] = [
  projectsOfAll,
  peopleOfAll,
  unindexed('blobs'),
  unindexed('commits'),
]

export const groupScopes: readonly SearchScope<GroupSubject>[] = [
  projectsInGroup,
  peopleInGroup,
  unindexed('blobs'),
  unindexed('commits'),
]

export const projectScopes: readonly SearchScope<ProjectSubject>[] = [blobsInProject, commitsInProject, peopleInProject]
