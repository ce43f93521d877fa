import { describe, expect, inject } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { storedSettings, storeSetting } from '../../../../test/tables/instance.ts'
import { type Client, test, World } from '../../../../test/world.ts'
import { createApp } from '../../../app.ts'
import { declared } from '../../../settings/settings.ts'
import { change, errorOf, keyOfCertificate, path, refusal } from './testing.ts'

/** The stored values, with sealed secrets. */
const stored = async (world: World) => (await storedSettings(world))[0].values

describe('GET and PUT /application/settings', () => {
  test('D2-SETTINGS-ADMIN: 403 for settings unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    for (const ask of [(who: Client) => who.get(path), (who: Client) => who.put(path, { max_attachment_size: 11 })]) {
      expect(await ask(world.anonymous)).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
      expect(await ask(ann)).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    }
    expect((await world.root.get(path)).status).toBe(200)
  })

  test('GET /application/settings returns every setting or its default', async ({ world }) => {
    const { json } = await world.root.get(path)
    expect(json).toMatchObject({
      id: 1,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      default_projects_limit: 100_000,
      container_registry_token_expire_delay: 5,
      external_authorization_service_timeout: 0.5,
      polling_interval_multiplier: 1,
      domain_whitelist: [],
      restricted_visibility_levels: [],
      enabled_git_access_protocol: null,
      home_page_url: null,
      import_sources: expect.arrayContaining(['git', 'manifest', 'gitlab_project']),
      repository_storages: ['default'],
      commit_email_hostname: 'users.noreply.127.0.0.1',
      asset_proxy_whitelist: ['127.0.0.1'],
      search_engine_url: 'http://localhost:9200',
      password_authentication_enabled: true,
      signin_enabled: true,
    })
    expect(json.import_sources).toHaveLength(11)
    const shown = declared.filter(([, { secret }]) => secret !== 'hidden').map(([name]) => name)
    expect(shown.filter((name) => json[name] === undefined)).toEqual([])
  })

  test('D2-SETTINGS-PROJECTS-LIMIT D2-SETTINGS-DEFAULT-VISIBILITY D2-SETTINGS-PASSWORD-AUTH: defaults', async ({
    world,
  }) => {
    expect((await world.root.get(path)).json).toMatchObject({
      default_projects_limit: 100_000,
      default_group_visibility: 'private',
      default_project_visibility: 'private',
      default_snippet_visibility: 'private',
      password_authentication_enabled_for_git: true,
      password_authentication_enabled_for_web: true,
    })
  })

  test('D2-SETTINGS-OPTIONAL D2-SETTINGS-FULL-SET D2-SETTINGS-REPLICA-IPS: PUT of one returns all', async ({
    world,
  }) => {
    const before = (await world.root.get(path)).json
    const changed = await change(world, { max_attachment_size: 23 })
    expect(changed.status).toBe(200)
    expect(changed.json).toEqual({ ...before, max_attachment_size: 23, updated_at: changed.json.updated_at })
    expect((await world.root.get(path)).json).toEqual(changed.json)
    expect(Date.parse(changed.json.updated_at)).toBeGreaterThan(Date.parse(before.updated_at))
  })

  test('PUT returns the new host of private commit e-mails, and the default one when it is cleared', async ({
    world,
  }) => {
    const host = async (name: string | null) => (await change(world, { commit_email_hostname: name })).json
    expect(await host('hidden.example')).toMatchObject({ commit_email_hostname: 'hidden.example' })
    expect(await host(null)).toMatchObject({ commit_email_hostname: 'users.noreply.127.0.0.1' })
    expect(await host('other.example')).toMatchObject({ commit_email_hostname: 'other.example' })
    expect(await host('')).toMatchObject({ commit_email_hostname: 'users.noreply.127.0.0.1' })
  })

  test('a refused PUT changes no setting', async ({ world }) => {
    const before = await stored(world)
    expect(await change(world, { max_attachment_size: 24, diff_max_patch_bytes: 1 })).toMatchObject(
      refusal('diff_max_patch_bytes', 'must be greater than or equal to 102400'),
    )
    expect(await change(world, { max_attachment_size: 24, first_day_of_week: 3 })).toMatchObject(
      errorOf('first_day_of_week does not have a valid value'),
    )
    expect(await stored(world)).toEqual(before)
  })

  test('unknown settings are ignored, and 400 without a known one', async ({ world }) => {
    const { status, json } = await change(world, { colour: 'green' })
    expect(status).toBe(400)
    expect(json.error).toMatch(/^admin_notification_email, .* are missing, at least one parameter must be provided$/)
    expect((await change(world, { colour: 'green', max_attachment_size: 25 })).status).toBe(200)
    expect(await stored(world)).not.toHaveProperty('colour')
  })

  test('null clears optional settings and lists, and is a 400 for others', async ({ world }) => {
    await change(world, { home_page_url: 'https://a.example', domain_whitelist: ['a.example'] })
    expect((await change(world, { home_page_url: null, domain_whitelist: null })).json).toMatchObject({
      home_page_url: null,
      domain_whitelist: [],
    })
    for (const name of ['max_attachment_size', 'signup_enabled', 'default_group_visibility'])
      expect(await change(world, { [name]: null })).toMatchObject(refusal(name, "can't be blank"))
  })

  test('D2-SETTINGS-WHITELIST: lists are arrays or text, and null is no restriction', async ({ world }) => {
    const hosts = ['a.example', '*.b.example', '10.1.0.0/16']
    for (const name of ['domain_whitelist', 'outbound_local_requests_whitelist']) {
      expect((await change(world, { [name]: hosts })).json[name]).toEqual(hosts)
      expect((await change(world, { [name]: ' a.example, *.b.example;10.1.0.0/16\n\na.example' })).json[name]).toEqual(
        hosts,
      )
      expect((await change(world, { [name]: null })).json[name]).toEqual([])
    }
    expect((await change(world, { asset_proxy_whitelist: 'a.example' })).json.asset_proxy_whitelist).toEqual([
      'a.example',
      '127.0.0.1',
    ])
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    const sent = await world.root.send('PUT', path, { ...form, body: 'restricted_visibility_levels=internal,public' })
    expect(sent.json.restricted_visibility_levels).toEqual(['internal', 'public'])
  })

  test('settings have alternative names that clients use', async ({ world }) => {
    expect((await change(world, { gravatar_enabled: false })).json).toMatchObject({
      gravatar_enabled: false,
      avatar_service_enabled: false,
    })
    expect(await change(world, { plantuml_enabled: true, plantuml_url: 'http://draw.example' })).toMatchObject({
      status: 200,
      json: { diagram_enabled: true, diagram_url: 'http://draw.example' },
    })
    expect(await change(world, { gravatar_enabled: false, avatar_service_enabled: true })).toMatchObject(
      errorOf('avatar_service_enabled, gravatar_enabled are mutually exclusive'),
    )
  })

  test('D2-SETTINGS-DEPRECATED: deprecated names set the current settings', async ({ world }) => {
    const group = await world.group()
    expect(
      (await change(world, { performance_bar_allowed_group_id: group.full_path })).json
        .performance_bar_allowed_group_id,
    ).toBe(group.id)
    expect((await change(world, { performance_bar_enabled: false })).json.performance_bar_allowed_group_id).toBe(null)
    const byPath = { performance_bar_allowed_group_path: group.full_path.toUpperCase() }
    expect((await change(world, byPath)).json.performance_bar_allowed_group_id).toBe(group.id)
    const unknown = { performance_bar_allowed_group_path: 'no/such-group' }
    expect((await change(world, unknown)).json.performance_bar_allowed_group_id).toBe(null)
    expect((await change(world, { allow_local_requests_from_hooks_and_services: true })).json).toMatchObject({
      allow_local_requests_from_web_hooks_and_services: true,
      allow_local_requests_from_hooks_and_services: true,
    })
    expect((await change(world, { signin_enabled: false })).json).toMatchObject({
      password_authentication_enabled_for_web: false,
      password_authentication_enabled: false,
      signin_enabled: false,
    })
    expect(await change(world, { signin_enabled: false, password_authentication_enabled: false })).toMatchObject(
      errorOf('password_authentication_enabled, signin_enabled are mutually exclusive'),
    )
  })

  test('newer names of lists of domains are names of the same settings', async ({ world }) => {
    const newer = {
      domain_allowlist: ['a.example'],
      domain_denylist_enabled: true,
      domain_denylist: ['b.example'],
      asset_proxy_allowlist: ['c.example', '127.0.0.1'],
    }
    const older = Object.fromEntries(
      Object.entries(newer).map(([name, value]) => [name.replace('allow', 'white').replace('deny', 'black'), value]),
    )
    expect((await change(world, newer)).json).toMatchObject({ ...newer, ...older })
    expect((await change(world, { domain_denylist_enabled: true })).json).toEqual({
      error: 'domain_denylist is missing',
    })
  })

  test('settings that the plan does not offer are omitted and ignored', async () => {
    await using free = await World.start({ STITHY_PLAN: 'free' })
    const { json } = await free.root.get(path)
    expect(json).not.toHaveProperty('help_text')
    expect(json).not.toHaveProperty('search_engine_url')
    expect(json).toHaveProperty('sign_in_text')
    const changed = await free.root.put(path, { help_text: 'Ask Ann', sign_in_text: 'Welcome' })
    expect(changed).toMatchObject({ status: 200, json: { sign_in_text: 'Welcome' } })
    expect((await storedSettings(free))[0].values).toEqual({ sign_in_text: 'Welcome' })
  })

  test('settings reach other processes even if the notification is lost', async ({ world }) => {
    await using other = await createApp(world.config, {
      databaseUrl: world.databaseUrl,
      runnerSocket: inject('runnerSocket'),
    })
    const seen = async () => (await other.open(null)).settings.max_attachment_size
    await change(world, { max_attachment_size: 31 })
    await expect.poll(seen).toBe(31)
    await storeSetting(world, 'max_attachment_size', 32)
    await expect.poll(seen).toBe(32)
  })

  test('changes of settings are recorded in the audit log without secrets', async ({ world }) => {
    await change(world, { captcha_private_key: 'do not tell', max_attachment_size: 26 })
    const { payload, actor_id } = (await eventsOf(world, { kind: 'settings_updated' }, 'payload', 'actor_id')).at(-1)
    expect({ payload, actor_id }).toEqual({
      payload: { changed: ['captcha_private_key', 'max_attachment_size'] },
      actor_id: world.root.id,
    })
    const audited = await world.root.get('/audit_events?entity_type=Gitlab::Audit::InstanceScope&per_page=1')
    const facts = { captcha_private_key: true, max_attachment_size: 26 }
    expect(audited.json).toMatchObject([
      { author_id: world.root.id, event_name: 'settings_updated', details: { facts } },
    ])
    expect(audited.text).not.toContain('do not tell')
  })
})

describe('secret settings', () => {
  test('D2-SETTINGS-CLIENT-KEY-ENCRYPTED: secrets are encrypted in the database', async ({ world }) => {
    const sent = {
      external_auth_client_key: keyOfCertificate,
      external_auth_client_key_pass: 'open sesame',
      spam_filter_api_key: 'spam, spam, spam',
    }
    expect(await change(world, sent)).toMatchObject({ status: 200, json: sent })
    const values = await stored(world)
    for (const [name, clear] of Object.entries(sent)) {
      expect(values[name]).toMatch(/^v1:/)
      expect(JSON.stringify(values)).not.toContain(clear)
    }
    expect((await world.root.get(path)).json).toMatchObject(sent)
    expect((await change(world, { spam_filter_api_key: '' })).json.spam_filter_api_key).toBe(null)
  })

  test('write-only settings are never returned', async ({ world }) => {
    const hidden = { asset_proxy_secret_key: 'hush-hush-1', managed_cluster_secret_access_key: 'hush-hush-2' }
    const changed = await change(world, hidden)
    expect(changed.status).toBe(200)
    for (const text of [changed.text, (await world.root.get(path)).text, JSON.stringify(await stored(world))])
      expect(text).not.toContain('hush-hush')
    expect(changed.json).not.toHaveProperty('asset_proxy_secret_key')
    expect(changed.json).not.toHaveProperty('eks_secret_access_key')
  })
})
