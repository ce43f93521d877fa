import createClient, { type Middleware } from 'openapi-fetch'
// Generated from docs/openapi.json by the test, which type-checks this file beside it.
import type { components, paths } from './api.ts'

/*
 * A program of a client author: creates a project, commits to a branch, merges it and lists what is there, with types
 * generated from the OpenAPI document. Prints what it saw as JSON. Arguments: origin of the service, access token.
 */

type MergeRequest = components['schemas']['MergeRequestDetail']

const [origin, token = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl: `${origin}/api/v4`, headers: { 'PRIVATE-TOKEN': token } })

/** Throws on every error response, so that results have data. */
const throwing: Middleware = {
  async onResponse({ request, response }) {
    if (!response.ok) throw new Error(`${request.method} ${request.url}: ${response.status} ${await response.text()}`)
  },
}
client.use(throwing)

function dataOf<T>({ data }: { data?: T }): T {
  if (data === undefined) throw new Error('a response without content')
  return data
}

const project = dataOf(
  await client.POST('/projects', {
    body: {
      name: `client-${Date.now()}`,
      visibility: 'private',
      initialize_with_readme: true,
      default_branch: 'main',
      // A job would delete the branch while the branches are listed.
      remove_source_branch_after_merge: false,
    },
  }),
)
const id = String(project.id)
const inProject = { path: { id } }

await client.POST('/projects/{id}/repository/branches', {
  params: inProject,
  body: { branch: 'topic', ref: project.default_branch ?? 'main' },
})
const commit = dataOf(
  await client.POST('/projects/{id}/repository/commits', {
    params: inProject,
    body: {
      branch: 'topic',
      commit_message: 'Add a note',
      actions: [{ action: 'create', file_path: 'note.txt', content: 'Generated\n' }],
    },
  }),
)

const opened: MergeRequest = dataOf(
  await client.POST('/projects/{id}/merge_requests', {
    params: inProject,
    body: { source_branch: 'topic', target_branch: 'main', title: 'Add a note' },
  }),
)
const one = { path: { id, merge_request_iid: opened.iid } }

/** The service checks in the background whether it can be merged. */
async function checked(): Promise<MergeRequest> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const found = dataOf(await client.GET('/projects/{id}/merge_requests/{merge_request_iid}', { params: one }))
    if (found.merge_status === 'can_be_merged') return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the merge request is never checked')
}

const { sha } = await checked()
const merged = dataOf(
  await client.PUT('/projects/{id}/merge_requests/{merge_request_iid}/merge', {
    params: one,
    body: sha === null ? {} : { sha },
  }),
)

for (const branch of ['a', 'b', 'c'])
  await client.POST('/projects/{id}/repository/branches', { params: inProject, body: { branch, ref: 'main' } })
const names: string[] = []
const sizes: number[] = []
let page: string | null = '1'
while (page) {
  const query: { page: number; per_page: number } = { page: Number(page), per_page: 2 }
  const { data = [], response } = await client.GET('/projects/{id}/repository/branches', {
    params: { ...inProject, query },
  })
  names.push(...data.map(({ name }) => name))
  sizes.push(data.length)
  page = response.headers.get('x-next-page')
}

// What the types know: each error below is one that the compiler must report.
const state: 'opened' | 'closed' | 'locked' | 'merged' = merged.state
const author: string = merged.author.username
const level: 10 | 20 | 30 | 40 | 50 | undefined = project.permissions.project_access?.access_level
const wrong = async () => {
  // @ts-expect-error A milestone may be null.
  merged.milestone.title
  // @ts-expect-error There is no such visibility.
  await client.POST('/projects', { body: { name: 'x', visibility: 'secret' } })
  // @ts-expect-error A merge request needs branches.
  await client.POST('/projects/{id}/merge_requests', { params: inProject, body: { title: 'x' } })
  // @ts-expect-error There is no such path.
  await client.GET('/projects/{id}/repository/twigs', { params: inProject })
}

console.log(
  JSON.stringify({ message: commit.message, state, author, level, names, sizes, unused: typeof wrong === 'function' }),
)
