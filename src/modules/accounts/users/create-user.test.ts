import { describe, expect } from 'vitest'
import { test, unique, type World } from '../../../../test/world.ts'

const body = (more: Record<string, unknown> = {}) => {
  const username = unique('new')
  return { username, name: 'New', email: `${username}@example.com`, password: 'correct horse', ...more }
}

const post = (world: World, more: Record<string, unknown> = {}) => world.root.post('/users', body(more))

describe('POST /users', () => {
  test('D2-SETTINGS-PROJECTS-LIMIT: POST /users creates an account with the defaults', async ({ world }) => {
    const sent = body()
    const made = await world.root.post('/users', sent)
    expect(made.status).toBe(201)
    expect(made.json).toMatchObject({
      username: sent.username,
      name: 'New',
      email: sent.email,
      state: 'active',
      is_admin: false,
      external: false,
      can_create_group: true,
      can_create_project: true,
      projects_limit: 100000,
      private_profile: false,
      confirmed_at: null,
      bio: null,
      location: null,
      organization: null,
      public_email: '',
      skype: '',
      linkedin: '',
      twitter: '',
      website_url: '',
      theme_id: 1,
      color_scheme_id: 1,
      identities: [],
      note: null,
    })
    expect((await world.root.get(`/namespaces/${sent.username}`)).json).toMatchObject({
      kind: 'user',
      path: sent.username,
    })
  })

  test('POST /users accepts every documented parameter', async ({ world }) => {
    const sent = body({
      admin: true,
      bio: 'b',
      location: 'l',
      organization: 'o',
      skype: 's',
      linkedin: 'li',
      twitter: 't',
      website_url: 'w',
      can_create_group: false,
      projects_limit: 3,
      skip_confirmation: true,
      private_profile: true,
      theme_id: 2,
      color_scheme_id: 3,
      extern_uid: unique('uid'),
      provider: 'ldap',
      note: 'n',
      shared_runners_minutes_limit: 5,
      extra_shared_runners_minutes_limit: 6,
    })
    const made = await world.root.post('/users', { ...sent, public_email: sent.email })
    const {
      admin,
      password: _,
      skip_confirmation: __,
      extern_uid,
      provider,
      ...shown
    } = sent as Record<string, unknown>
    expect(made).toMatchObject({
      status: 201,
      json: {
        ...shown,
        is_admin: admin,
        public_email: sent.email,
        identities: [{ provider, extern_uid }],
        confirmed_at: expect.any(String),
      },
    })
  })

  test('D3-USERS-SAML-PROVIDER-ID: only group_saml identities have a saml_provider_id', async ({ world }) => {
    const made = await post(world, { extern_uid: unique('uid'), provider: 'group_saml' })
    expect(made.json.identities).toMatchObject([{ provider: 'group_saml', saml_provider_id: null }])
    const other = await post(world, { extern_uid: unique('uid'), provider: 'ldap' })
    expect(other.json.identities[0]).not.toHaveProperty('saml_provider_id')
  })

  test('users have no identity whose provider and ID are empty, and it is refused if one of both is', async ({
    world,
  }) => {
    for (let n = 0; n < 2; n++)
      expect(await post(world, { extern_uid: '', provider: '' })).toMatchObject({
        status: 201,
        json: { identities: [] },
      })
    const ann = await world.user({ extern_uid: unique('uid'), provider: 'ldap' })
    const { identities } = (await world.root.get(`/users/${ann.id}`)).json
    const form = { name: 'Ann', extern_uid: '', provider: '' }
    expect(await world.root.put(`/users/${ann.id}`, form)).toMatchObject({ status: 200, json: { identities } })
    for (const [given, blank] of [
      [{ extern_uid: unique('uid'), provider: '' }, 'provider'],
      [{ extern_uid: '', provider: 'ldap' }, 'extern_uid'],
    ] as const) {
      const json = { message: { [blank]: ["can't be blank"] } }
      expect(await post(world, given)).toMatchObject({ status: 400, json })
      expect(await world.root.put(`/users/${ann.id}`, given)).toMatchObject({ status: 404, json })
    }
  })

  test('D3-USER-CREATE-ADMIN: 403 for POST /users unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    expect(await ann.post('/users', body())).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect(await world.anonymous.post('/users', body())).toMatchObject({
      status: 401,
      json: { message: '401 Unauthorized' },
    })
  })

  test.for(['email', 'username', 'name'])('400 for POST /users without %s', async (field, { world }) => {
    expect(await post(world, { [field]: undefined })).toMatchObject({
      status: 400,
      json: { error: `${field} is missing` },
    })
    expect(await post(world, { [field]: '' })).toMatchObject({
      status: 400,
      json: { message: { [field]: ["can't be blank"] } },
    })
  })

  test.for([
    [{ email: 'no-address' }, { email: ['is invalid'] }],
    [{ email: 'a b@example.com' }, { email: ['is invalid'] }],
    [{ email: '<a@example.com>' }, { email: ['is invalid'] }],
    [{ email: `${'a'.repeat(250)}@example.com` }, { email: ['is too long (maximum is 255 characters)'] }],
    [{ username: 'api' }, { username: ['api is a reserved name'] }],
    [
      { username: '-x' },
      {
        username: [
          "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
        ],
      },
    ],
    [{ name: 'n'.repeat(129) }, { name: ['is too long (maximum is 128 characters)'] }],
    [{ bio: 'b'.repeat(256) }, { bio: ['is too long (maximum is 255 characters)'] }],
    [{ password: 'short' }, { password: ['is too short (minimum is 8 characters)'] }],
    [{ password: 'p'.repeat(129) }, { password: ['is too long (maximum is 128 characters)'] }],
    [{ projects_limit: -1 }, { projects_limit: ['must be greater than or equal to 0'] }],
    [{ projects_limit: 2147483648 }, { projects_limit: ['must be less than or equal to 2147483647'] }],
    [{ public_email: 'other@example.com' }, { public_email: ['is not an email you own'] }],
    [
      { email: 'unconfirmed@example.com', public_email: 'unconfirmed@example.com' },
      { public_email: ['is not an email you own'] },
    ],
  ] as const)('400 with messages by field for POST /users with %j', async ([more, message], { world }) => {
    expect(await post(world, more)).toMatchObject({ status: 400, json: { message } })
  })

  test('lengths of names and texts are counted in characters', async ({ world }) => {
    const longest = { name: '\u{1f98a}'.repeat(128), bio: '\u{1f98a}'.repeat(255) }
    expect(await post(world, longest)).toMatchObject({ status: 201, json: longest })
  })

  test.for([
    [{ projects_limit: 'many' }, 'projects_limit is invalid'],
    [{ admin: 'perhaps' }, 'admin is invalid'],
    [{ extern_uid: 'x' }, 'extern_uid, provider provide all or none of parameters'],
    [{ name: 'a\0b' }, 'name is invalid'],
  ] as const)('400 for POST /users with the invalid parameter %j', async ([more, error], { world }) => {
    expect(await post(world, more)).toMatchObject({ status: 400, json: { error } })
  })

  test('D3-USER-CREATE-PASSWORD-ONE-OF: 400 without any of the three password parameters', async ({ world }) => {
    expect(await post(world, { password: undefined })).toMatchObject({
      status: 400,
      json: {
        error: 'password, reset_password, force_random_password are missing, at least one parameter must be provided',
      },
    })
    expect((await post(world, { password: undefined, reset_password: true })).status).toBe(201)
    expect((await post(world, { password: undefined, force_random_password: true })).status).toBe(201)
  })

  test('D3-USER-CREATE-PASSWORD-REQUIRED: 400 without a password unless it is reset or random', async ({ world }) => {
    const refused = { status: 400, json: { message: { password: ["can't be blank"] } } }
    expect(await post(world, { password: undefined, reset_password: false })).toMatchObject(refused)
    expect(await post(world, { password: '', force_random_password: false })).toMatchObject(refused)
  })

  test('D3-USER-CREATE-PASSWORD-PRECEDENCE: reset or random override the password', async ({ world }) => {
    expect((await post(world, { password: 'short', reset_password: true, force_random_password: true })).status).toBe(
      201,
    )
  })

  test('D3-USER-PRIVATE-PROFILE: null creates a user with a public profile', async ({ world }) => {
    expect((await post(world, { private_profile: null })).json).toMatchObject({ private_profile: false })
  })

  test('external users cannot create groups or projects, whatever was requested', async ({ world }) => {
    const made = await post(world, { external: true, can_create_group: true, projects_limit: 5 })
    expect(made.json).toMatchObject({
      external: true,
      can_create_group: false,
      projects_limit: 0,
      can_create_project: false,
    })
  })

  test('409 when the e-mail or username is taken, in any case, also by a group path', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group()
    const taken = { status: 409, json: { message: 'Username has already been taken' } }
    expect(await post(world, { username: ann.username.toUpperCase() })).toMatchObject(taken)
    expect(await post(world, { username: group.path })).toMatchObject(taken)
    expect(await post(world, { email: `${ann.username.toUpperCase()}@EXAMPLE.com` })).toMatchObject({
      status: 409,
      json: { message: 'Email has already been taken' },
    })
    expect((await world.root.get(`/users?username=${group.path}`)).json).toEqual([])
  })

  test('the address is named first when the username is taken as well, as for a user who is created twice', async ({
    world,
  }) => {
    const same = body()
    expect((await world.root.post('/users', same)).status).toBe(201)
    expect(await world.root.post('/users', same)).toMatchObject({
      status: 409,
      json: { message: 'Email has already been taken' },
    })
  })

  test('one of several concurrent creations of the same user succeeds', async ({ world }) => {
    const same = body()
    const answers = await Promise.all(Array.from({ length: 4 }, () => world.root.post('/users', same)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })
})
