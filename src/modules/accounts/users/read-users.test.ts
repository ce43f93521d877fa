import { describe, expect } from 'vitest'
import { addCustomAttribute } from '../../../../test/tables/users.ts'
import { test } from '../../../../test/world.ts'

const reference = ['avatar_url', 'id', 'name', 'state', 'username', 'web_url']
const profile = [
  ...reference,
  'bio',
  'bot',
  'created_at',
  'job_title',
  'linkedin',
  'location',
  'organization',
  'public_email',
  'skype',
  'twitter',
  'website_url',
]
const account = [
  ...profile,
  'can_create_group',
  'can_create_project',
  'color_scheme_id',
  'confirmed_at',
  'current_sign_in_at',
  'commit_email',
  'email',
  'external',
  'extra_shared_runners_minutes_limit',
  'identities',
  'last_activity_on',
  'last_sign_in_at',
  'private_profile',
  'projects_limit',
  'shared_runners_minutes_limit',
  'theme_id',
  'two_factor_enabled',
]
const administrative = [...account, 'current_sign_in_ip', 'is_admin', 'last_sign_in_ip', 'note']

describe('GET /user', () => {
  test("D3-USERS-AUDIENCE: GET /user returns the caller's account", async ({ world }) => {
    const ann = await world.user({ name: 'Ann' })
    const own = await ann.get('/user')
    expect(own).toMatchObject({
      status: 200,
      json: { id: ann.id, name: 'Ann', projects_limit: 100000, state: 'active', can_create_project: true },
    })
    expect(Object.keys(own.json).sort()).toEqual([...account].sort())
    const root = await world.root.get('/user')
    expect(root.json).toMatchObject({ id: 1, is_admin: true })
    expect(Object.keys(root.json).sort()).toEqual([...administrative].sort())
  })

  test('401 for GET /user without a token or with an unknown one', async ({ world }) => {
    expect(await world.anonymous.get('/user')).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
    expect(await world.anonymous.get('/projects', { headers: { 'private-token': 'wrong' } })).toMatchObject({
      status: 401,
      json: { message: '401 Unauthorized' },
    })
  })

  test('D3-USER-SUDO: administrators read GET /user of others with sudo', async ({ world }) => {
    const ann = await world.user()
    for (const name of [String(ann.id), ann.username.toUpperCase()]) {
      const seen = await world.root.get(`/user?sudo=${name}`)
      expect(seen).toMatchObject({ status: 200, json: { id: ann.id } })
      expect(seen.json).not.toHaveProperty('is_admin')
    }
    expect(await ann.get('/user?sudo=1')).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden - Must be admin to use sudo' },
    })
  })
})

describe('GET /users/:id', () => {
  test('D3-USERS-AUDIENCE: GET /users/:id returns the profile; administrators get the account', async ({ world }) => {
    const ann = await world.user({ name: 'Ann', bio: 'Hello', location: 'Rome', organization: 'Acme', skype: 's' })
    const bob = await world.user()
    const seen = await bob.get(`/users/${ann.id}`)
    expect(Object.keys(seen.json).sort()).toEqual([...profile].sort())
    expect(seen.json).toMatchObject({
      id: ann.id,
      name: 'Ann',
      state: 'active',
      bio: 'Hello',
      location: 'Rome',
      organization: 'Acme',
      skype: 's',
      public_email: '',
      bot: false,
      web_url: `${world.origin}/${ann.username}`,
      avatar_url: expect.stringMatching(/^https:\/\/www\.gravatar\.com\/avatar\/[0-9a-f]{32}\?s=80&d=identicon$/),
    })
    expect((await world.anonymous.get(`/users/${ann.id}`)).json).toEqual(seen.json)
    const full = await world.root.get(`/users/${ann.id}`)
    expect(Object.keys(full.json).sort()).toEqual([...administrative, 'highest_role'].sort())
    expect(full.json).toMatchObject({ email: `${ann.username}@example.com`, is_admin: false, highest_role: 0 })
  })

  test('highest_role is the highest role anywhere, personal projects included', async ({ world }) => {
    const ann = await world.user()
    await world.group({ members: [[ann, 'developer']] })
    expect((await world.root.get(`/users/${ann.id}`)).json.highest_role).toBe(30)
    await ann.post('/projects', { name: 'Mine' })
    expect((await world.root.get(`/users/${ann.id}`)).json.highest_role).toBe(40)
  })

  test('D3-USER-PRIVATE-PROFILE: a private profile hides created_at from other users', async ({ world }) => {
    const ann = await world.user({ private_profile: true })
    const bob = await world.user()
    expect((await bob.get(`/users/${ann.id}`)).json).not.toHaveProperty('created_at')
    for (const who of [ann, world.root]) expect((await who.get(`/users/${ann.id}`)).json).toHaveProperty('created_at')
  })

  test.for(['0', '-1', '2147483647'])('404 for GET /users/%s', async (id, { world }) => {
    expect(await world.root.get(`/users/${id}`)).toMatchObject({ status: 404, json: { message: '404 User Not Found' } })
  })
  test.for(['ann', '1.5', '99999999999999999999', '%00', '1%2F2'])('400 for the user id %s', async (id, { world }) => {
    expect(await world.root.get(`/users/${id}`)).toMatchObject({ status: 400, json: { error: 'id is invalid' } })
  })

  test('D2-CUSTOM-ATTRIBUTES: with_custom_attributes works for administrators only', async ({ world }) => {
    const ann = await world.user()
    await addCustomAttribute(world, { user: ann.id }, 'team', 'blue')
    const path = `/users/${ann.id}?with_custom_attributes=true`
    expect((await world.root.get(path)).json.custom_attributes).toEqual([{ key: 'team', value: 'blue' }])
    expect((await world.root.get(`/users/${ann.id}`)).json).not.toHaveProperty('custom_attributes')
    expect((await ann.get(path)).json).not.toHaveProperty('custom_attributes')
  })
})
