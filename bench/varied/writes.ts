import { repositoryProject } from '../world.ts'
import type { Random } from './random.ts'
import type { Call, Kind } from './reads.ts'
import type { Sample } from './sample.ts'

let count = 0
/** A name that no other run has used. */
const unique = (word: string): string => `${word}-${process.pid.toString(36)}-${Date.now().toString(36)}-${++count}`

const isMade = (status: number): boolean => status === 200 || status === 201 || status === 304

const write = (name: string, make: (random: Random, sample: Sample) => Call): Kind => ({
  name: `${name} (write)`,
  make,
  succeeds: isMade,
})

const ofOwned = (
  name: string,
  method: 'POST' | 'PUT',
  rest: string,
  json: (random: Random, sample: Sample) => unknown,
): Kind =>
  write(name, (random, sample) => {
    const { user, id } = random.pick(sample.owned)
    return { user, method, path: `/projects/${id}${rest}`, json: json(random, sample) }
  })

/** Kinds of writes, by users who may do them, to different projects. */
export const writes: readonly Kind[] = [
  write('projects', (random, sample) => ({
    user: random.pick(sample.users),
    method: 'POST',
    path: '/projects',
    json: { name: unique('project'), visibility: random.pick(['private', 'internal', 'public']) },
  })),
  ofOwned('projects_project', 'PUT', '', (random) => ({ description: `${unique('Description')} ${random.next()}` })),
  write('groups', (random, sample) => {
    const path = unique('group')
    return {
      user: random.pick(sample.users),
      method: 'POST',
      path: '/groups',
      json: { name: path, path, visibility: random.pick(['private', 'public']) },
    }
  }),
  ofOwned('projects_labels', 'POST', '/labels', () => ({ name: unique('label'), color: '#336699' })),
  ofOwned('projects_milestones', 'POST', '/milestones', () => ({ title: unique('Milestone') })),
  // The first commit to a project makes its repository.
  ofOwned('repository_commits', 'POST', '/repository/commits', () => {
    const file = unique('file')
    return {
      branch: 'main',
      commit_message: `Add ${file}`,
      actions: [{ action: 'create', file_path: `${file}.txt`, content: `${file}\n` }],
    }
  }),
  write('projects_star', (random, sample) => ({
    user: random.pick(sample.users),
    method: 'POST',
    path: `/projects/${random.pick(sample.publicProjects).id}/star`,
  })),
  ofOwned('projects_issues', 'POST', '/issues', () => ({
    title: unique('Issue'),
    description: `It is ${unique('wrong')}.`,
  })),
  write('issue_notes', (random, sample) => {
    const { user, project, iid } = random.pick(sample.issues)
    return {
      user,
      method: 'POST',
      path: `/projects/${project}/issues/${iid}/notes`,
      json: { body: `What about ${unique('this')}?` },
    }
  }),
  write('merge_request_notes', (random, sample) => {
    const { user, project, iid } = random.pick(sample.mergeRequests)
    return {
      user,
      method: 'POST',
      path: `/projects/${project}/merge_requests/${iid}/notes`,
      json: { body: `What about ${unique('this')}?` },
    }
  }),
  ofOwned('projects_variables', 'POST', '/variables', () => ({
    key: unique('KEY').replaceAll('-', '_'),
    value: 'some value',
  })),
  write('commit_comments', (random, sample) => ({
    user: random.pick(sample.users),
    method: 'POST',
    path: `/projects/${repositoryProject}/repository/commits/${random.pick(sample.commits)}/comments`,
    json: { note: `What about ${unique('this')}?` },
  })),
]
