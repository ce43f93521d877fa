import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FormData } from 'undici'
import { describe, expect, onTestFinished } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeUser, ghosts } from '../../../../test/tables/users.ts'
import { type Client, git, test, unique, type World } from '../../../../test/world.ts'
import { purgeExpiredLinks } from './jobs.ts'
import { follow, linksTo, sendForm } from './testing.ts'

const edit = (world: World, who: Client, more: Record<string, unknown>, as = world.root) =>
  as.put(`/users/${who.id}`, more)

const clones = async (url: string): Promise<boolean> =>
  git(await mkdtemp(join(tmpdir(), 'stithy-clone-')), 'clone', '-q', url, 'here').then(
    () => true,
    () => false,
  )

describe('PUT /users/:id', () => {
  test('D3-USER-UPDATE-ADMIN: 403 for PUT /users/:id unless the caller is an administrator', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    for (const who of [ann, bob])
      expect(await edit(world, ann, { bio: 'x' }, who)).toMatchObject({
        status: 403,
        json: { message: '403 Forbidden' },
      })
    expect(await edit(world, ann, { bio: 'x' }, world.anonymous)).toMatchObject({ status: 401 })
    expect(await world.root.put('/users/2147483647', { bio: 'x' })).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
  })

  test('403 for PUT /users/:id of a bot or the ghost user, and for tokens of the latter', async ({ world }) => {
    const project = await world.project()
    const attributes = { name: 'robot', scopes: ['api'], access_level: 30 }
    const bot = (await world.root.post(`/projects/${project.id}/access_tokens`, attributes)).json.user_id
    // There is at most one ghost user, and earlier tests in this world may have created it.
    const [existing] = await ghosts(world, 'id')
    const ghost: number = existing?.id ?? (await world.user()).id
    const become = (kind: string) => changeUser(world, ghost, { kind: kind })
    if (!existing) {
      await become('ghost')
      onTestFinished(async () => void (await become('human')))
    }
    for (const kind of ['impersonation', 'personal_access'])
      expect(await world.root.post(`/users/${ghost}/${kind}_tokens`, { name: 'x', scopes: ['api'] })).toMatchObject({
        status: 403,
        json: { message: expect.stringContaining('internal users') },
      })
    for (const id of [bot, ghost])
      for (const more of [{ admin: true }, { external: false }, { password: 'correct horse battery' }, { name: 'x' }])
        expect(await world.root.put(`/users/${id}`, more)).toMatchObject({
          status: 403,
          json: { message: '403 Forbidden - This action cannot be performed on internal users' },
        })
  })

  test('PUT /users/:id changes every documented attribute and nothing else', async ({ world }) => {
    const ann = await world.user()
    const before = (await world.root.get(`/users/${ann.id}`)).json
    const changes = {
      name: 'Ann B.',
      bio: 'b',
      location: 'l',
      organization: 'o',
      job_title: 'j',
      skype: 's',
      linkedin: 'li',
      twitter: 't',
      website_url: 'w',
      can_create_group: false,
      projects_limit: 3,
      private_profile: true,
      theme_id: 2,
      color_scheme_id: 3,
      note: 'n',
      shared_runners_minutes_limit: 5,
      extra_shared_runners_minutes_limit: 6,
    }
    const edited = await edit(world, ann, { ...changes, admin: true })
    expect(edited).toMatchObject({ status: 200, json: { ...changes, is_admin: true, email: before.email } })
    expect(await edit(world, ann, {})).toMatchObject({ status: 200, json: { ...changes, is_admin: true } })
    const { highest_role: _, ...shown } = (await world.root.get(`/users/${ann.id}`)).json
    expect((await edit(world, ann, { admin: false })).json).toEqual({ ...shown, is_admin: false })
  })

  test('D3-USER-PRIVATE-PROFILE: null clears texts and makes the profile public', async ({ world }) => {
    const ann = await world.user({ bio: 'b', skype: 's', note: 'n', private_profile: true })
    expect(
      (await edit(world, ann, { bio: null, skype: null, note: null, private_profile: null, avatar: null })).json,
    ).toMatchObject({ bio: null, skype: '', note: null, private_profile: false })
  })

  test('external users lose the right to create groups and projects until they are internal', async ({ world }) => {
    const ann = await world.user()
    expect((await edit(world, ann, { external: true, projects_limit: 9 })).json).toMatchObject({
      external: true,
      can_create_group: false,
      projects_limit: 0,
    })
    expect((await edit(world, ann, { external: false, projects_limit: 9 })).json).toMatchObject({
      external: false,
      can_create_group: true,
      projects_limit: 9,
    })
  })

  test.for([
    [{ email: 'no-address' }, { email: ['is invalid'] }],
    [{ email: '' }, { email: ["can't be blank"] }],
    [{ username: 'api' }, { username: ['api is a reserved name'] }],
    [{ name: 'n'.repeat(129) }, { name: ['is too long (maximum is 128 characters)'] }],
    [{ bio: 'b'.repeat(256) }, { bio: ['is too long (maximum is 255 characters)'] }],
    [{ password: 'short' }, { password: ['is too short (minimum is 8 characters)'] }],
    [{ projects_limit: -1 }, { projects_limit: ['must be greater than or equal to 0'] }],
    [{ projects_limit: 2147483648 }, { projects_limit: ['must be less than or equal to 2147483647'] }],
    [{ public_email: 'other@example.com' }, { public_email: ['is not an email you own'] }],
    [{ group_id_for_saml: 1, extern_uid: 'x', provider: 'ldap' }, { group_id_for_saml: ['needs provider group_saml'] }],
  ] as const)(
    'D3-USER-UPDATE-CONFLICT: any failure of an update is a 404, with messages by field: %j',
    async ([more, message], { world }) => {
      const ann = await world.user()
      expect(await edit(world, ann, { ...more, location: 'elsewhere' })).toMatchObject({
        status: 404,
        json: { message },
      })
      expect((await ann.get('/user')).json.location).toBeNull()
    },
  )

  test.for([
    [{ projects_limit: 'many' }, 'projects_limit is invalid'],
    [{ admin: 'perhaps' }, 'admin is invalid'],
    [{ extern_uid: 'x' }, 'extern_uid, provider provide all or none of parameters'],
  ] as const)('400 for PUT /users/:id with the invalid parameter %j', async ([more, error], { world }) => {
    expect(await edit(world, await world.user(), more)).toMatchObject({ status: 400, json: { error } })
  })

  test('D3-USER-UPDATE-CONFLICT: 404 with the conflict when another user has the value', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group()
    const further = `${unique('further')}@example.com`
    expect((await world.root.post(`/users/${bob.id}/emails`, { email: further })).status).toBe(201)
    const email = { status: 404, json: { message: 'Email has already been taken' } }
    const username = { status: 404, json: { message: 'Username has already been taken' } }
    for (const skip_reconfirmation of [true, false])
      for (const taken of [`${bob.username}@EXAMPLE.com`, further.toUpperCase()])
        expect(await edit(world, ann, { email: taken, skip_reconfirmation })).toMatchObject(email)
    expect(await edit(world, ann, { username: bob.username.toUpperCase() })).toMatchObject(username)
    expect(await edit(world, ann, { username: group.path })).toMatchObject(username)
    for (const skip_reconfirmation of [true, false]) {
      const both = { username: bob.username, email: `${bob.username}@example.com`, skip_reconfirmation }
      expect(await edit(world, ann, both)).toMatchObject(email)
    }
    const uid = unique('uid')
    await edit(world, bob, { provider: 'ldap', extern_uid: uid })
    expect(await edit(world, ann, { provider: 'ldap', extern_uid: uid })).toMatchObject({
      status: 404,
      json: { message: 'Extern uid has already been taken' },
    })
  })

  test('one of several concurrent changes to the same username succeeds', async ({ world }) => {
    const people = await Promise.all([world.user(), world.user(), world.user()])
    const username = unique('wanted')
    const answers = await Promise.all(people.map((who) => edit(world, who, { username })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
  })

  test('a user whose e-mail only changes its case keeps it as public and commit e-mail', async ({ world }) => {
    const ann = await world.user()
    const email = `${ann.username}@example.com`
    await edit(world, ann, { public_email: email, commit_email: email })
    const upper = { email: email.toUpperCase(), skip_reconfirmation: true }
    expect((await edit(world, ann, upper)).json).toMatchObject({
      email: email.toUpperCase(),
      public_email: email,
      commit_email: email,
    })
    const other = { email: `${unique('other')}@example.com`, skip_reconfirmation: true }
    expect((await edit(world, ann, other)).json).toMatchObject({ email: other.email, public_email: '' })
  })

  test.for([true, false])(
    'a new e-mail cannot be confirmed any more once an administrator sends the present one (skip_reconfirmation: %s)',
    async (skip_reconfirmation, { world }) => {
      const ann = await world.user()
      const { email } = (await world.root.get(`/users/${ann.id}`)).json
      const wrong = `${unique('wrong')}@example.com`
      expect((await edit(world, ann, { email: wrong })).json.email).toBe(email)
      expect((await edit(world, ann, { email, skip_reconfirmation })).json.email).toBe(email)
      expect((await follow(world, (await linksTo(world, wrong))[0]!)).status).toBe(422)
      expect((await world.root.get(`/users/${ann.id}`)).json.email).toBe(email)
    },
  )

  test('the new e-mail of one user can be confirmed after that of another was taken back', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const email = `${unique('right')}@example.com`
    await edit(world, bob, { email })
    await edit(world, ann, { email: `${unique('wrong')}@example.com` })
    await edit(world, ann, { email: `${ann.username}@example.com` })
    expect((await follow(world, (await linksTo(world, email))[0]!)).status).toBe(200)
    expect((await world.root.get(`/users/${bob.id}`)).json.email).toBe(email)
  })

  test('a link that has not expired stays when expired ones are deleted', async ({ world }) => {
    const ann = await world.user()
    const email = `${unique('late')}@example.com`
    await edit(world, ann, { email })
    await purgeExpiredLinks.run({}, await world.app.open(null))
    expect((await follow(world, (await linksTo(world, email))[0]!)).status).toBe(200)
  })

  test('a new e-mail takes effect at once with skip_reconfirmation, else after confirmation', async ({ world }) => {
    const ann = await world.user()
    const [first, second] = [`${unique('a')}@example.com`, `${unique('b')}@example.com`]
    expect((await edit(world, ann, { email: first, skip_reconfirmation: true })).json.email).toBe(first)
    expect((await edit(world, ann, { email: second })).json.email).toBe(first)
    const [link] = await linksTo(world, second)
    expect((await world.anonymous.get(`/${link!.slice(world.config.externalUrl.length)}`)).status).toBe(200)
    expect((await world.root.get(`/users/${ann.id}`)).json.email).toBe(first)
    expect(await follow(world, link!)).toMatchObject({ status: 200, text: expect.stringContaining('Thank you') })
    expect((await world.root.get(`/users/${ann.id}`)).json.email).toBe(second)
    expect((await follow(world, link!)).status).toBe(422)
  })

  test('a confirmation link fails when another user took the e-mail meanwhile', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const email = `${unique('late')}@example.com`
    await edit(world, ann, { email })
    await edit(world, bob, { email, skip_reconfirmation: true })
    expect((await follow(world, (await linksTo(world, email))[0]!)).status).toBe(422)
    expect((await world.root.get(`/users/${ann.id}`)).json.email).toBe(`${ann.username}@example.com`)
  })

  test('a new username moves the personal namespace, and old paths redirect', async ({ world }) => {
    const ann = await world.user()
    const project = (await ann.post('/projects', { name: 'Mine', visibility: 'public' })).json
    expect((await ann.get('/projects?owned=true')).json[0].owner.name).toBe(`Name of ${ann.username}`)
    const username = unique('renamed')
    expect((await edit(world, ann, { username, name: 'Ann' })).json).toMatchObject({ username, name: 'Ann' })
    expect((await ann.get(`/projects/${project.id}`)).json).toMatchObject({
      path_with_namespace: `${username}/mine`,
      name_with_namespace: 'Ann / Mine',
      namespace: { path: username, full_path: username, name: 'Ann' },
    })
    expect((await ann.get('/projects?owned=true')).json).toMatchObject([
      { owner: { name: 'Ann', username }, path_with_namespace: `${username}/mine` },
    ])
    expect((await world.anonymous.get(`/projects/${ann.username}%2Fmine`)).json).toMatchObject({ id: project.id })
    expect((await world.root.get(`/users?username=${ann.username}`)).json).toEqual([])
    expect((await edit(world, ann, { username: username.toUpperCase() })).status).toBe(200)
  })

  test('D3-USER-UPDATE-PASSWORD: the new password gives no access before the user changes it', async ({ world }) => {
    const project = await world.project({ visibility: 'private' })
    const ann = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })
    const at = (password: string) => project.url.replace('://', `://${ann.username}:${password}@`)
    expect(await clones(at('correct%20horse%20battery'))).toBe(true)

    expect((await edit(world, ann, { password: 'set by another' })).status).toBe(200)
    expect(await clones(at('correct%20horse%20battery'))).toBe(false)
    const basic = { authorization: `Basic ${Buffer.from(`${ann.username}:set by another`).toString('base64')}` }
    const path = `//${project.full_path}.git/info/refs?service=git-upload-pack`
    expect(await world.anonymous.get(path, { headers: basic })).toMatchObject({
      status: 403,
      text: `Your password expired. Please choose a new one at ${world.config.externalUrl}/-/users/password/new\n`,
    })
    expect((await ann.get('/user')).status).toBe(200)

    const ask = await sendForm(world, '/-/users/password/new', { email: `${ann.username}@example.com` })
    expect(ask.status).toBe(200)
    const [link] = await linksTo(world, `${ann.username}@example.com`)
    expect((await follow(world, link!, { password: 'short' })).text).toContain('is too short')
    expect((await follow(world, link!, { password: 'chosen%20alone' })).status).toBe(200)
    expect((await follow(world, link!, { password: 'another one' })).status).toBe(422)
    expect(await clones(at('chosen%2520alone'))).toBe(true)
  })

  test("an administrator's own new password works at once", async ({ world }) => {
    const admin = await world.user({ admin: true })
    const project = await world.project()
    expect((await edit(world, admin, { password: 'my-own-choice' }, admin)).status).toBe(200)
    expect(await clones(project.url.replace('://', `://${admin.username}:my-own-choice@`))).toBe(true)
  })

  test('422 for a password reset link after the e-mail of the account changed', async ({ world }) => {
    const ann = await world.user()
    const old = `${ann.username}@example.com`
    await edit(world, ann, { reset_password: true, password: 'ignored password' })
    await edit(world, ann, { email: `${unique('n')}@example.com`, skip_reconfirmation: true })
    expect((await follow(world, (await linksTo(world, old))[0]!, { password: 'by the old one' })).status).toBe(422)
  })

  test('422 for a password reset link to the old e-mail after the user confirmed the new one', async ({ world }) => {
    const ann = await world.user()
    const [old, email] = [`${ann.username}@example.com`, `${unique('n')}@example.com`]
    await edit(world, ann, { email })
    await sendForm(world, '/-/users/password/new', { email: old })
    const [reset] = await linksTo(world, old)
    expect((await follow(world, (await linksTo(world, email))[0]!)).status).toBe(200)
    expect((await follow(world, reset!, { password: 'by the old one' })).status).toBe(422)
  })

  test('a password reset link goes to the e-mail set by the same edit', async ({ world }) => {
    const ann = await world.user()
    const email = `${unique('n')}@example.com`
    expect((await edit(world, ann, { email, skip_reconfirmation: true, reset_password: true })).status).toBe(200)
    expect(await linksTo(world, `${ann.username}@example.com`)).toEqual([])
    expect((await follow(world, (await linksTo(world, email))[0]!, { password: 'by the new one' })).status).toBe(200)
  })

  test.for([
    ['location', { location: 'x'.repeat(1001) }, 'location', 1000],
    ['website_url', { website_url: 'x'.repeat(1001) }, 'website_url', 1000],
    ['note', { note: 'x'.repeat(65_537) }, 'note', 65_536],
    ['extern_uid', { provider: 'ldap', extern_uid: 'x'.repeat(256) }, 'extern_uid', 255],
    ['provider', { provider: 'x'.repeat(256), extern_uid: 'x' }, 'provider', 255],
  ] as const)(
    'a %s that is too long is refused, for new and existing users',
    async ([, attributes, key, most], { world }) => {
      const json = { message: { [key]: [`is too long (maximum is ${most} characters)`] } }
      expect(await edit(world, await world.user(), attributes)).toMatchObject({ status: 404, json })
      const username = unique('new')
      const fresh = { username, name: 'N', email: `${username}@example.com`, password: 'correct horse battery' }
      expect(await world.root.post('/users', { ...fresh, ...attributes })).toMatchObject({ status: 400, json })
      const fits = Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name, text.slice(0, most)]))
      expect((await world.root.post('/users', { ...fresh, ...fits })).status).toBe(201)
    },
  )

  test('D3-USER-IDENTITY-DELETE: administrators add, replace and delete identities', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group()
    const [one, two, three] = [unique('uid'), unique('uid'), unique('uid')]
    await edit(world, ann, { provider: 'ldap', extern_uid: one })
    await edit(world, ann, { provider: 'group_saml', extern_uid: two, group_id_for_saml: group.id })
    expect((await edit(world, ann, { provider: 'ldap', extern_uid: three })).json.identities).toEqual([
      { provider: 'ldap', extern_uid: three },
      { provider: 'group_saml', extern_uid: two, saml_provider_id: group.id },
    ])
    const path = `/users/${ann.id}/identities/ldap`
    expect((await ann.delete(path)).status).toBe(403)
    expect((await world.anonymous.delete(path)).status).toBe(401)
    expect((await world.root.delete(path)).status).toBe(204)
    expect(await world.root.delete(path)).toMatchObject({ status: 404, json: { message: '404 Identity Not Found' } })
    expect((await world.root.get(`/users/${ann.id}`)).json.identities).toHaveLength(1)
  })

  test('404 for an identity at the SAML provider of a group that does not exist', async ({ world }) => {
    const identity = { provider: 'group_saml', extern_uid: unique('uid'), group_id_for_saml: 2147483647 }
    expect(await edit(world, await world.user(), identity)).toMatchObject({
      status: 404,
      json: { message: '404 Group Not Found' },
    })
  })

  test('the password of a user, and the link for a new one, stay when another user gets a new password', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const signIn = async () =>
      (
        await world.anonymous.send('POST', '//oauth/token', {
          json: { grant_type: 'password', username: bob.username, password: 'correct horse battery' },
        })
      ).status
    const ask = ({ username }: Client) => sendForm(world, '/-/users/password/new', { email: `${username}@example.com` })
    const choose = async ({ username }: Client) =>
      (await follow(world, (await linksTo(world, `${username}@example.com`))[0]!, { password: unique('new password') }))
        .status
    for (const who of [ann, bob]) await ask(who)
    expect(await choose(ann)).toBe(200)
    expect((await edit(world, ann, { password: unique('new password') })).status).toBe(200)
    expect(await signIn()).toBe(200)
    expect(await choose(bob)).toBe(200)
    expect(await signIn()).not.toBe(200)
  })

  test('user_updated names the administrator and the changed fields, without secrets', async ({ world }) => {
    const ann = await world.user()
    await edit(world, ann, { password: 'a new secret', bio: 'x' })
    const [event] = await eventsOf(
      world,
      { kind: 'user_updated', payload: { user_id: String(ann.id) } },
      'actor_id',
      'payload',
    )
    expect(event).toMatchObject({ actor_id: 1, payload: { user_id: ann.id, email_confirmed: false } })
    expect(event.payload.changed.sort()).toEqual(['bio', 'password'])
    expect(JSON.stringify(event)).not.toContain('secret')
  })

  test('an avatar can be replaced and removed by PUT /users/:id', async ({ world }) => {
    const ann = await world.user()
    const form = new FormData()
    form.append('avatar', new Blob([png]), 'dot.png')
    const edited = await world.root.send('PUT', `/users/${ann.id}`, { body: form })
    expect(edited.json.avatar_url).toBe(`${world.config.externalUrl}/uploads/-/system/user/avatar/${ann.id}/dot.png`)
    expect((await edit(world, ann, { avatar: null })).json.avatar_url).toContain('gravatar')
  })
})

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
