import { expect } from 'vitest'
import { endpoints } from '../../src/modules/endpoints.ts'
import { test, unique } from '../world.ts'

/** Endpoints that write a note, by what their parameters are. */
const writes = endpoints
  .filter(({ method, params }) => (method === 'POST' || method === 'PUT') && params !== undefined)
  .filter(
    ({ path }) =>
      /\/(notes|discussions|comments)$/.test(path) ||
      /\/(issues|merge_requests|snippets|epics|commits)\/.*\/notes\/:note_id$/.test(path),
  )
  .map(({ method, path }) => `${method} ${path}`)

test('every kind of noteable is among the endpoints that write notes', () => {
  for (const noteable of [
    '/projects/:id/issues/:issue_iid',
    '/projects/:id/merge_requests/:merge_request_iid',
    '/projects/:id/snippets/:snippet_id',
    '/projects/:id/repository/commits/:sha',
    '/groups/:id/epics/:epic_iid',
  ])
    expect(writes.filter((write) => write.includes(`${noteable}/`)).length, noteable).toBeGreaterThanOrEqual(4)
})

test.for(writes)('400 for an internal note: %s', async (write, { world }) => {
  const [method, path] = write.split(' ') as [string, string]
  const at = path.replace(/:\w+/g, '1')
  for (const flag of ['internal', 'confidential'])
    for (const value of [true, 'true', '1', 'yes']) {
      const answer = await world.root.send(method, at, { json: { body: 'x', note: 'x', [flag]: value } })
      expect(answer, `${flag} ${value}`).toMatchObject({
        status: 400,
        json: { error: `${flag} must be false: internal notes are not available` },
      })
    }
})

test('an issue has no note that was meant to be internal, and those that are not are created', async ({ world }) => {
  const { id } = (await world.root.post('/projects', { name: unique('noted') })).json
  const issue = `/projects/${id}/issues/${(await world.root.post(`/projects/${id}/issues`, { title: 'x' })).json.iid}`
  const { id: discussion } = (await world.root.post(`${issue}/discussions`, { body: 'open' })).json
  for (const at of ['notes', 'discussions', `discussions/${discussion}/notes`]) {
    expect((await world.root.post(`${issue}/${at}`, { body: 'hidden', internal: true })).status).toBe(400)
    expect((await world.root.post(`${issue}/${at}?confidential=true`, { body: 'hidden' })).status).toBe(400)
    for (const given of [{ internal: false }, { confidential: 'false' }, { internal: null }])
      expect((await world.root.post(`${issue}/${at}`, { body: 'open', ...given })).status).toBe(201)
  }
  const bodies = (await world.root.get(`${issue}/notes`)).json.map(({ body }: { body: string }) => body)
  expect(bodies).toEqual(Array.from({ length: 10 }, () => 'open'))
})
