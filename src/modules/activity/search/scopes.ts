import type { GroupSubject } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { blobsInProject, commitsInProject, wikiInProject } from './code.ts'
import { blobsInGroup, blobsOfAll, commitsInGroup, commitsOfAll } from './code-of-many.ts'
import { issuesInGroup, issuesInProject, issuesOfAll } from './issues.ts'
import { mergeRequestsInGroup, mergeRequestsInProject, mergeRequestsOfAll } from './merge-requests.ts'
import { milestonesInGroup, milestonesInProject, milestonesOfAll } from './milestones.ts'
import { notesInGroup, notesInProject, notesOfAll } from './notes.ts'
import { peopleInGroup, peopleInProject, peopleOfAll } from './people.ts'
import { projectsInGroup, projectsOfAll } from './projects.ts'
import type { SearchScope } from './scope.ts'
import { snippetBlobsInProject, snippetBlobsOfAll, snippetsInProject, snippetTitlesOfAll } from './snippets.ts'

/** Scopes of a search in the whole installation. */
export const instanceScopes: readonly SearchScope<null>[] = [
  projectsOfAll,
  peopleOfAll,
  issuesOfAll,
  mergeRequestsOfAll,
  milestonesOfAll,
  notesOfAll,
  blobsOfAll,
  commitsOfAll,
  snippetTitlesOfAll,
  snippetBlobsOfAll,
]

export const groupScopes: readonly SearchScope<GroupSubject>[] = [
  projectsInGroup,
  peopleInGroup,
  issuesInGroup,
  mergeRequestsInGroup,
  milestonesInGroup,
  notesInGroup,
  blobsInGroup,
  commitsInGroup,
]

export const projectScopes: readonly SearchScope<ProjectSubject>[] = [
  blobsInProject,
  wikiInProject,
  commitsInProject,
  issuesInProject,
  mergeRequestsInProject,
  milestonesInProject,
  notesInProject,
  peopleInProject,
  snippetsInProject,
  snippetBlobsInProject,
]
