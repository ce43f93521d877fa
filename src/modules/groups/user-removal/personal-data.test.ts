import { FormData } from 'undici'
import { describe, expect, test } from 'vitest'
import { placesWith, storedColumns } from '../../../../test/tables/instance.ts'
import { type Answer, type Client, unique, World } from '../../../../test/world.ts'
import { newGpgKey } from '../../accounts/gpg-keys/testing.ts'
import { newPublicKey } from '../../accounts/ssh-keys/testing.ts'
import { basic } from '../../pushes/large-files/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

type Person = { readonly client: Client; readonly words: readonly string[] }

const done = async (answer: Promise<Answer>): Promise<any> => {
  const { status, text, json } = await answer
  expect(status, text).toBeLessThan(300)
  return json
}

/** Places in the database with one of these words, outside of the audit log: `schema.table.column: value`. */
async function columnsWith(world: World, words: readonly string[]): Promise<string[]> {
  const columns = await storedColumns(world)
  // Tables of the product and of the job queue.
  expect(new Set(columns.map(({ schema }) => schema))).toEqual(new Set(['public', 'graphile_worker']))
  const rows = await placesWith(world, columns, words)
  return rows.map(({ place }) => place).sort()
}

/** A user with unique names whose actions leave rows, in their own namespace and in a project of others. */
async function busyUser(world: World, other: Client): Promise<Person> {
  const { root } = world
  const [username, first] = [unique('quillon'), unique('former')]
  const [name, email, further] = [
    `Zaphira ${unique('Featherby')}`,
    `${username}@mail.example`,
    `${username}@work.example`,
  ]
  const words = [username, first, name, email, further]
  const account = { username: first, name, email, password: 'correct horse battery', skip_confirmation: true }
  const { id } = await done(root.post('/users', account))
  await done(root.put(`/users/${id}`, { username, website_url: `https://${username}.example`, bio: `I am ${name}` }))
  const client = await world.as({ id, username })

  await done(client.post('/user/keys', { title: `laptop of ${username}`, key: newPublicKey() }))
  await done(client.post('/user/gpg_keys', { key: await newGpgKey(email) }))
  await done(client.post('/user/emails', { email: further }))
  await done(client.put('/user/status', { message: `${name} is here` }))
  await done(client.post('/user/personal_access_tokens', { name: `for ${username}`, scopes: ['read_api'] }))
  await client.post(`/users/${other.id}/follow`)
  await other.post(`/users/${id}/follow`)
  const login = { grant_type: 'password', username, password: 'wrong' }
  expect((await world.anonymous.send('POST', '//oauth/token', { json: login })).status).toBe(400)
  await done(root.put(`/users/${id}/custom_attributes/place`, { value: `desk of ${username}` }))

  const own = await done(client.post('/projects', { path: 'own' }))
  await done(client.put(`/projects/${own.id}`, { path: 'own-moved' }))
  await done(client.post(`/projects/${own.id}/deploy_tokens`, { name: username, scopes: ['read_repository'] }))
  await done(client.post(`/projects/${own.id}/members`, { user_id: other.id, access_level: 30 }))

  const { project, at } = await openMergeRequest(world, { members: [[other, 'maintainer']] })
  await done(root.put(`/projects/${project.id}`, { request_access_enabled: true }))
  await done(client.post(`/projects/${project.id}/access_requests`))
  await done(root.delete(`/projects/${project.id}/access_requests/${id}`))
  await done(root.post(`/projects/${project.id}/members`, { user_id: id, access_level: 40 }))
  await done(other.put(at, { assignee_id: id }))
  await done(other.put(at, { assignee_id: 0 }))
  await done(other.put(at, { assignee_id: id }))
  const issues = `/projects/${project.id}/issues`
  const headers = { 'user-agent': `Agent of ${username}` }
  const reported = await done(client.send('POST', issues, { json: { title: 'Broken', assignee_id: id }, headers }))
  await done(client.put(`${issues}/${reported.iid}`, { assignee_id: other.id, state_event: 'close' }))
  await done(client.post(`${at}/notes`, { body: 'Well done' }))
  await done(client.post(`${at}/discussions`, { body: 'A question' }))
  await done(client.post(`${at}/award_emoji`, { name: 'tada' }))
  await done(client.post(`${at}/approve`))
  await done(client.post(`${at}/add_spent_time`, { duration: '1h' }))
  await done(client.post(`${at}/todo`))
  const snippet = { title: 'Mine', file_name: 'x', content: 'x', visibility: 'public' }
  const snippets = `/projects/${project.id}/snippets`
  const { id: snippetId } = await done(client.send('POST', snippets, { json: snippet, headers }))
  await done(client.post(`${snippets}/${snippetId}/notes`, { body: 'Fine' }))
  await done(client.post(`${snippets}/${snippetId}/award_emoji`, { name: 'tada' }))
  await done(client.send('POST', '/snippets', { json: snippet, headers }))
  const file = { branch: 'main', content: 'x', commit_message: 'Add a file', author_name: name, author_email: email }
  await done(client.post(`/projects/${project.id}/repository/files/x.txt`, file))
  const [{ id: sha }] = await done(client.get(`/projects/${project.id}/repository/commits`))
  await done(client.post(`/projects/${project.id}/statuses/${sha}`, { state: 'success' }))
  await done(client.post(`/projects/${project.id}/repository/commits/${sha}/comments`, { note: 'Fine' }))
  await done(client.get(`/projects/${project.id}/repository/contributors`))
  await done(client.post(`/projects/${project.id}/releases`, { tag_name: 'v1', ref: 'main', description: 'First' }))
  await done(client.post(`/projects/${project.id}/milestones`, { title: 'Soon' }))
  await done(client.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' }))
  await done(client.post(`/projects/${project.id}/variables`, { key: 'PLACE', value: 'x' }))
  await done(client.post(`/projects/${project.id}/protected_branches`, { name: 'stable' }))
  await done(client.post(`/projects/${project.id}/star`))
  const body = new FormData()
  body.set('file', new Blob(['x']), 'x.txt')
  await done(client.send('POST', `/projects/${project.id}/uploads`, { body }))
  const locks = `//${project.full_path}.git/info/lfs/locks`
  const lfs = {
    ...basic(client),
    accept: 'application/vnd.git-lfs+json',
    'content-type': 'application/vnd.git-lfs+json',
  }
  await done(client.send('POST', locks, { headers: lfs, body: JSON.stringify({ path: 'x.txt' }) }))
  await done(client.post(`/projects/${project.id}/invitations`, { email: 'third@mail.example', access_level: 30 }))
  await done(other.post(`/projects/${project.id}/invitations`, { email: further, access_level: 20 }))
  await done(client.post(`/projects/${project.id}/fork`, { path: 'forked' }))
  const commit = {
    branch: 'mine',
    start_branch: 'main',
    commit_message: 'Mine',
    author_name: name,
    author_email: email,
  }
  const actions = [{ action: 'create', file_path: 'mine.txt', content: 'mine' }]
  await done(client.post(`/projects/${project.id}/repository/commits`, { ...commit, actions }))
  const mine = { source_branch: 'mine', target_branch: 'main', title: 'Mine', assignee_id: other.id }
  const { iid } = await done(client.post(`/projects/${project.id}/merge_requests`, mine))
  const mineAt = `/projects/${project.id}/merge_requests/${iid}`
  await done(other.post(`${mineAt}/approve`))
  await done(other.put(`${mineAt}/merge`, { squash: true }))
  await done(
    client.post('/groups', { name: 'Ours', path: unique('ours') }).then(async (made) => {
      await root.post(`/groups/${made.json.id}/members`, { user_id: other.id, access_level: 50 })
      return made
    }),
  )
  const right = { ...login, password: 'correct horse battery' }
  await done(world.anonymous.send('POST', '//oauth/token', { json: right }))
  // Unsent mails, to the user and to others about the user.
  await world.anonymous.send('POST', '//users/password', { body: `user[email]=${email}` })
  await done(root.put(`/users/${id}`, { email: `new-${email}` }))
  return { client, words }
}

describe('personal data after the deletion of a user', () => {
  for (const hard of [false, true])
    test(`only the audit log names a user after ${hard ? 'a hard' : 'the'} deletion`, async () => {
      await using world = await World.start()
      const other = await world.user()
      const { client, words } = await busyUser(world, other)
      const before = await columnsWith(world, words)
      expect(before.length).toBeGreaterThan(10)
      await done(world.root.delete(`/users/${client.id}?hard_delete=${hard}`))
      await world.runJobs()
      await expect.poll(() => world.jobs('%')).toEqual([])
      expect(await columnsWith(world, words)).toEqual([])
    })
})
