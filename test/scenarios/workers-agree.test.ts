import { expect, test } from 'vitest'
import { type Answer, type Ask, madeBy, twoWorkers, userBy } from '../two-workers.ts'

test('two worker processes agree soon after a change', async () => {
  const [one, other] = (await twoWorkers()).workers

  const { id: annId } = await userBy(one, 'ann')
  const tokens = `/api/v4/users/${annId}/personal_access_tokens`
  const newToken = async () => (await one('POST', tokens, { name: 'x', scopes: ['api'] })).json
  const [revoked, kept] = [await newToken(), await newToken()]
  const home = async (ask: Ask) => (await ask('GET', '/')).status
  const user = (token: string) => async (ask: Ask) => (await ask('GET', '/api/v4/user', undefined, token)).status
  const sets = (values: object) => (ask: Ask) => ask('PUT', '/api/v4/application/settings', values)

  const changes: readonly [(ask: Ask) => Promise<{ status: number }>, (ask: Ask) => Promise<number>, number, number][] =
    [
      [sets({ home_page_url: 'https://home.example' }), home, 404, 302],
      [sets({ home_page_url: null }), home, 302, 404],
      [(ask) => ask('DELETE', `/api/v4/personal_access_tokens/${revoked.id}`), user(revoked.token), 200, 401],
      [(ask) => ask('POST', `/api/v4/users/${annId}/block`), user(kept.token), 200, 403],
      [(ask) => ask('POST', `/api/v4/users/${annId}/unblock`), user(kept.token), 403, 200],
    ]
  for (const [index, [change, look, before, after]] of changes.entries()) {
    // The workers take turns in making the change; the other has just read the state, so it has cached the old one.
    const [maker, onlooker] = index % 2 === 0 ? [one, other] : [other, one]
    for (const ask of [maker, onlooker]) expect(await look(ask)).toBe(before)
    expect((await change(maker)).status).toBeLessThan(300)
    for (const ask of [maker, onlooker]) await expect.poll(() => look(ask), { interval: 10 }).toBe(after)
  }
})

test('what a worker has cached is not shown after the answer to a write in another worker', async () => {
  const [one, other] = (await twoWorkers()).workers
  const made = (path: string, json: object) => madeBy(one, path, json)
  const [ann, bob] = [await userBy(one, 'ann'), await userBy(one, 'bob')]
  const [anns, bobs] = [ann.token, bob.token]
  const group = await made('/groups', { name: 'Tools', path: 'tools', visibility: 'public' })
  const settings = { initialize_with_readme: true, default_branch: 'main', visibility: 'public' }
  const project = await made('/projects', { name: 'hammer', namespace_id: group.id, ...settings })
  const at = `/projects/${project.id}`
  await made(`${at}/members`, { user_id: ann.id, access_level: 30 })
  const milestone = await made(`${at}/milestones`, { title: 'first' })
  await made(`${at}/issues`, { title: 'One', labels: 'bug', assignee_ids: [ann.id], milestone_id: milestone.id })
  const issue = `${at}/issues/1`
  const note = await made(`${issue}/notes`, { body: 'before' })

  type Look = (ask: Ask) => Promise<unknown>
  const get = (path: string, show: (answer: Answer) => unknown, token?: string | null): Look => {
    return async (ask) => show(await ask('GET', `/api/v4${path}`, undefined, token))
  }
  const status = ({ status }: Answer) => status
  const total = ({ total }: Answer) => total
  const write = (method: string, path: string, json?: object, token?: string) => (ask: Ask) =>
    ask(method, `/api/v4${path}`, json, token)
  const author = ({ json }: Answer) => json[0].assignees[0].name
  const file = (content: string) => ({ branch: 'main', content, commit_message: content })
  const raw = `${at}/repository/files/new/raw?ref=main`
  const tree = `${at}/repository/tree`

  const changes: readonly [(ask: Ask) => Promise<Answer>, Look, before: unknown, after: unknown][] = [
    [write('PUT', issue, { title: 'Two' }), get(issue, ({ json }) => json.title), 'One', 'Two'],
    [write('PUT', issue, { state_event: 'close' }), get(`${at}/issues?state=opened`, total), 1, 0],
    [write('PUT', issue, { state_event: 'reopen' }), get(at, ({ json }) => json.open_issues_count), 0, 1],
    [write('PUT', `${at}/labels/bug`, { new_name: 'fault' }), get(issue, ({ json }) => json.labels[0]), 'bug', 'fault'],
    [write('PUT', issue, { remove_labels: 'fault' }), get('/issues?scope=all&labels=fault', total), 1, 0],
    [
      write('PUT', `${at}/milestones/${milestone.id}`, { title: 'second' }),
      get(`${at}/issues`, ({ json }) => json[0].milestone.title),
      'first',
      'second',
    ],
    [write('PUT', `/users/${ann.id}`, { name: 'Annie' }), get('/issues?scope=all', author), 'ann', 'Annie'],
    [
      write('PUT', `${issue}/notes/${note.id}`, { body: 'after' }),
      get(`${issue}/notes?sort=asc`, ({ json }) => json[0].body),
      'before',
      'after',
    ],
    [write('POST', `${issue}/award_emoji`, { name: 'thumbsup' }), get(issue, ({ json }) => json.upvotes), 0, 1],
    [write('POST', `${at}/star`), get('/projects', ({ json }) => json[0].star_count, anns), 0, 1],
    [write('PUT', issue, { confidential: true }), get(issue, status, bobs), 200, 404],
    [write('PUT', at, { visibility: 'private' }), get(tree, status, null), 200, 404],
    [write('DELETE', `${at}/members/${ann.id}`), get(tree, status, anns), 200, 404],
    [
      write('POST', `/groups/${group.id}/members`, { user_id: bob.id, access_level: 20 }),
      get(at, status, bobs),
      404,
      200,
    ],
    [
      write('POST', `${at}/repository/files/new`, file('text')),
      get(raw, ({ status, json }) => (status === 200 ? json : status), bobs),
      404,
      'text',
    ],
    [
      write('PUT', `${at}/repository/files/new`, file('more')),
      get(`${at}/repository/commits?path=new`, ({ json }) => json[0].title, bobs),
      'text',
      'more',
    ],
    [
      write('POST', `${at}/repository/branches`, { branch: 'next', ref: 'main' }),
      get(`${at}/repository/branches`, total),
      1,
      2,
    ],
    [write('DELETE', `${at}/repository/branches/next`), get(`${at}/repository/branches/next`, status), 200, 404],
    [
      write('PUT', `/groups/${group.id}`, { path: 'gear' }),
      get(at, ({ json }) => json.path_with_namespace, bobs),
      'tools/hammer',
      'gear/hammer',
    ],
    [write('DELETE', `/groups/${group.id}/members/${bob.id}`), get('/projects?membership=true', total, bobs), 1, 0],
  ]
  for (const [index, [change, look, before, after]] of changes.entries()) {
    const [maker, onlooker] = index % 2 === 0 ? [one, other] : [other, one]
    // The second time, it is cached.
    for (const ask of [onlooker, maker, onlooker]) expect(await look(ask), `before change ${index}`).toEqual(before)
    const answer = await change(maker)
    expect(answer.status, JSON.stringify(answer.json)).toBeLessThan(300)
    for (const ask of [onlooker, maker]) expect(await look(ask), `after change ${index}`).toEqual(after)
  }
})
