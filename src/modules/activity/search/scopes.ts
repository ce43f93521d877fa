import type { GroupSubject } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { blobsInProject, commitsInProject } from './code.ts'
import { blobsInGroup, blobsOfAll, commitsInGroup, commitsOfAll } from './code-of-many.ts'
import { mergeRequestsInGroup, mergeRequestsInProject, mergeRequestsOfAll } from './merge-requests.ts'
import { peopleInGroup, peopleInProject, peopleOfAll } from './people.ts'
import { projectsInGroup, projectsOfAll } from './projects.ts'
import type { SearchScope } from './scope.ts'

/** Scopes of a search in the whole installation. */
export const instanceScopes: readonly SearchScope<null>[] = [
  projectsOfAll,
  peopleOfAll,
  mergeRequestsOfAll,
  blobsOfAll,
  commitsOfAll,
]

export const groupScopes: readonly SearchScope<GroupSubject>[] = [
  projectsInGroup,
  peopleInGroup,
  mergeRequestsInGroup,
  blobsInGroup,
  commitsInGroup,
]

export const projectScopes: readonly SearchScope<ProjectSubject>[] = [
  blobsInProject,
  commitsInProject,
  mergeRequestsInProject,
  peopleInProject,
]
