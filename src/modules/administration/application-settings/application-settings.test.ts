import { describe, expect, inject } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { storedSettings, storeSetting } from '../../../../test/tables/instance.ts'
import { type Client, test, World } from '../../../../test/world.ts'
import { createApp } from '../../../app.ts'
import { declared } from '../../../settings/settings.ts'
import { certificate, keyOfCertificate, otherKey } from './testing.ts'

const path = '/application/settings'
const refusal = (name: string, ...texts: string[]) => ({ status: 400, json: { message: { [name]: texts } } })
const errorOf = (error: string) => ({ status: 400, json: { error } })

/** The stored values, with sealed secrets. */
const stored = async (world: World) => (await storedSettings(world))[0].values

/** Changes settings by the API, until the end of the test. */
async function change(world: World, values: Record<string, unknown>) {
  await world.settings({})
  return world.root.put(path, values)
}

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

describe('settings that require others', () => {
  const together: [rule: string, flag: string, companions: Record<string, unknown>][] = [
    ['D2-SETTINGS-ASSET-PROXY', 'asset_proxy_enabled', { asset_proxy_url: 'https://proxy.example' }],
    ['D2-SETTINGS-BLACKLIST', 'domain_blacklist_enabled', { domain_blacklist: ['spam.example'] }],
    [
      'D2-SETTINGS-HOUSEKEEPING',
      'housekeeping_enabled',
      {
        housekeeping_bitmaps_enabled: true,
        housekeeping_full_repack_period: 50,
        housekeeping_gc_period: 200,
        housekeeping_incremental_repack_period: 10,
      },
    ],
    [
      'D2-SETTINGS-METRICS',
      'metrics_enabled',
      {
        metrics_host: 'h.example',
        metrics_method_call_threshold: 1,
        metrics_packet_size: 1,
        metrics_pool_size: 1,
        metrics_port: 1,
        metrics_sample_interval: 1,
        metrics_timeout: 1,
      },
    ],
    ['', 'diagram_enabled', { diagram_url: 'http://draw.example' }],
    ['', 'require_two_factor_authentication', { two_factor_grace_period: 1 }],
    ['', 'shared_runners_enabled', { shared_runners_text: 'text' }],
    ['', 'event_tracking_enabled', { event_tracking_collector_hostname: 'c.example' }],
    ['', 'code_intelligence_enabled', { code_intelligence_url: 'https://code.example' }],
    ['', 'chat_app_enabled', { chat_app_id: 'i', chat_app_secret: 's', chat_app_verification_token: 't' }],
  ]
  test.for(together)('%s %s is enabled only with its required settings', async ([, flag, companions], { world }) => {
    const names = Object.keys(companions)
    expect(await change(world, { [flag]: true })).toMatchObject(
      errorOf(names.map((name) => `${name} is missing`).join(', ')),
    )
    expect((await change(world, { [flag]: false })).status).toBe(200)
    expect((await change(world, { [flag]: true, ...companions })).status).toBe(200)
    expect((await change(world, { [flag]: false })).status).toBe(200)
  })

  // src/settings/guards.test.ts shows that these cannot be enabled, because the product lacks what they promise.
  test.for([
    ['D2-SETTINGS-SPAM-KEY', 'spam_filter_enabled', { spam_filter_api_key: 'k' }],
    ['', 'captcha_enabled', { captcha_private_key: 'p', captcha_site_key: 's' }],
  ] as const)('%s %s is refused without its required settings first', async ([, flag, companions], { world }) => {
    const missing = Object.keys(companions).map((name) => `${name} is missing`)
    expect(await change(world, { [flag]: true })).toMatchObject(errorOf(missing.join(', ')))
    expect((await change(world, { [flag]: false, ...companions })).status).toBe(200)
  })

  test('D2-SETTINGS-TERMS D2-SETTINGS-EXT-AUTHZ: required settings may have been set before', async ({ world }) => {
    expect(await change(world, { enforce_terms: true })).toMatchObject(
      refusal('terms', 'You need to set terms to be enforced'),
    )
    const service = 'external_authorization_service'
    expect(await change(world, { [`${service}_enabled`]: true })).toMatchObject({
      status: 400,
      json: {
        message: { [`${service}_default_label`]: ["can't be blank"], [`${service}_url`]: ["can't be blank"] },
      },
    })
    await change(world, { [`${service}_default_label`]: 'open', [`${service}_url`]: 'https://ask.example' })
    expect(await change(world, { [`${service}_enabled`]: true, [`${service}_url`]: null })).toMatchObject({
      status: 400,
      json: { message: { [`${service}_url`]: ["can't be blank"] } },
    })
    expect(await change(world, { [`${service}_enabled`]: true })).toMatchObject(
      refusal(`${service}_enabled`, 'is not supported: this product does not have external authorization'),
    )
    expect(await change(world, { unique_ips_limit_enabled: true, unique_ips_limit_per_user: null })).toMatchObject(
      refusal('unique_ips_limit_per_user', "can't be blank"),
    )
  })

  test('D2-SETTINGS-CLIENT-CERT: a certificate needs its key', async ({ world }) => {
    const [cert, key] = ['external_auth_client_cert', 'external_auth_client_key']
    expect(await change(world, { [cert]: certificate })).toMatchObject(refusal(key, "can't be blank"))
    expect(await change(world, { [cert]: certificate, [key]: otherKey })).toMatchObject(
      refusal(key, 'private key does not match certificate.'),
    )
    expect(await change(world, { [cert]: 'x', [key]: keyOfCertificate })).toMatchObject(
      refusal(cert, 'is not a valid X509 certificate.'),
    )
    expect(await change(world, { [key]: 'x' })).toMatchObject(
      refusal(key, 'could not read private key, is the passphrase correct?'),
    )
    expect((await change(world, { [cert]: certificate, [key]: keyOfCertificate })).status).toBe(200)
  })
})

describe('values of settings', () => {
  const refused: [name: string, value: unknown, text: string][] = [
    ['home_page_url', 'ftp://a.example', 'is blocked: Only allowed schemes are http, https'],
    ['home_page_url', 'not an address', 'is blocked: URI is invalid'],
    ['after_sign_out_path', 'javascript:alert(1)', 'is blocked: Only allowed schemes are http, https'],
    ['admin_notification_email', 'no-address', 'is invalid'],
    ['two_factor_grace_period', -1, 'must be greater than or equal to 0'],
    ['session_expire_delay', -1, 'must be greater than or equal to 0'],
    ['terminal_max_session_time', -1, 'must be greater than or equal to 0'],
    ['polling_interval_multiplier', -0.5, 'must be greater than or equal to 0'],
    ['unique_ips_limit_per_user', 0, 'must be greater than or equal to 1'],
    ['max_attachment_size', 0, 'must be greater than 0'],
    ['max_artifacts_size', 0, 'must be greater than 0'],
    ['container_registry_token_expire_delay', 0, 'must be greater than 0'],
    ['housekeeping_incremental_repack_period', 0, 'must be greater than 0'],
    ['housekeeping_full_repack_period', 9, 'must be greater than or equal to 10'],
    ['housekeeping_gc_period', 49, 'must be greater than or equal to 50'],
    ['diff_max_patch_bytes', 512_001, 'must be less than or equal to 512000'],
    ['default_artifacts_expire_in', 'soon', 'is not a correct duration'],
    ['commit_email_hostname', 'a@b.example', 'is invalid'],
    ['local_markdown_version', 65_536, 'must be less than or equal to 65535'],
    ['auto_devops_domain', 'no domain', 'is not a fully qualified domain name'],
    ['rsa_key_restriction', 1, 'must be forbidden, allowed, or one of these sizes: 1024, 2048, 3072, 4096'],
    ['repository_storages', ['elsewhere'], "can't include: elsewhere"],
    ['repository_storages', [], "can't be blank"],
    ['user_default_internal_regex', '(', 'not valid RE2 syntax: error parsing regexp: missing closing ): `(`'],
    ['minimum_password_length', 129, 'must be less than or equal to 128'],
    ['deletion_adjourned_period', 91, 'must be less than or equal to 90'],
    ['replica_node_allowed_ips', '1.2.3.4/33', 'IP whitelist contains invalid IP addresses or ranges'],
    ['sentry_dsn', `https://a.example/${'x'.repeat(255)}`, 'is too long (maximum is 255 characters)'],
  ]
  test.for(refused)('400 when %s is %j', async ([name, value, text], { world }) => {
    expect(await change(world, { [name]: value })).toMatchObject(refusal(name, text))
  })

  const unread: [name: string, value: unknown, error: string][] = [
    ['max_attachment_size', 'large', 'max_attachment_size is invalid'],
    ['signup_enabled', 'perhaps', 'signup_enabled is invalid'],
    ['default_project_visibility', 'secret', 'default_project_visibility does not have a valid value'],
    ['restricted_visibility_levels', ['secret'], 'restricted_visibility_levels does not have a valid value'],
    ['import_sources', ['attic'], 'import_sources does not have a valid value'],
    ['terms', { a: 1 }, 'terms is invalid'],
    ['terms', 'a\0b', 'terms is invalid'],
  ]
  test.for(unread)('400 when %s is the unreadable %j', async ([name, value, error], { world }) => {
    expect(await change(world, { [name]: value })).toMatchObject(errorOf(error))
  })

  test('D2-SETTINGS-WEEK D2-SETTINGS-BRANCH-PROTECTION D2-SETTINGS-PROJECT-CREATION: valid numbers', async ({
    world,
  }) => {
    for (const [name, values, fallback] of [
      ['first_day_of_week', [0, 1, 6], 0],
      ['default_branch_protection', [0, 1, 2], 2],
      ['default_project_creation', [0, 1, 2], 2],
    ] as const) {
      expect((await world.root.get(path)).json[name]).toBe(fallback)
      for (const value of values) expect((await change(world, { [name]: value })).json[name]).toBe(value)
      for (const value of [4, 7, -1])
        expect(await change(world, { [name]: value })).toMatchObject(errorOf(`${name} does not have a valid value`))
    }
  })

  test('D2-SETTINGS-GIT-PROTOCOL: the value is ssh, http or nil for both', async ({ world }) => {
    for (const [sent, kept] of [
      ['ssh', 'ssh'],
      ['http', 'http'],
      ['nil', null],
      ['ssh', 'ssh'],
      ['', null],
    ])
      expect((await change(world, { enabled_git_access_protocol: sent })).json.enabled_git_access_protocol).toBe(kept)
    expect(await change(world, { enabled_git_access_protocol: 'ftp' })).toMatchObject(
      errorOf('enabled_git_access_protocol does not have a valid value'),
    )
  })

  test('D2-SETTINGS-KEY-RESTRICTION: at least one key type stays allowed', async ({ world }) => {
    const types = ['rsa', 'dsa', 'ecdsa', 'ed25519']
    const none = Object.fromEntries(types.map((type) => [`${type}_key_restriction`, -1]))
    expect(await change(world, none)).toMatchObject(refusal('allowed_key_types', "can't be blank"))
    expect((await change(world, { ...none, ed25519_key_restriction: 256 })).status).toBe(200)
  })

  test('D2-SETTINGS-ARCHIVE-BUILDS: a duration of at least a day in words; empty is never', async ({ world }) => {
    const name = 'archive_builds_in_human_readable'
    for (const [sent, returned] of [
      ['15 days', '15 days'],
      ['1 month', '1 month'],
      ['2 years', '2 years'],
      ['3 weeks', '21 days'],
      ['48h', '2 days'],
      ['', null],
    ])
      expect((await change(world, { [name]: sent })).json[name]).toBe(returned)
    expect(await change(world, { [name]: '23 hours' })).toMatchObject(refusal(name, 'must be at least 1 day.'))
    expect(await change(world, { [name]: 'a while' })).toMatchObject(refusal(name, 'is not a correct duration'))
  })

  test('D2-SETTINGS-EXT-AUTHZ-TIMEOUT: 0.001 to 10 seconds in steps of 0.001', async ({ world }) => {
    const name = 'external_authorization_service_timeout'
    for (const value of [0.001, 0.123, 10]) expect((await change(world, { [name]: value })).json[name]).toBe(value)
    expect(await change(world, { [name]: 0 })).toMatchObject(refusal(name, 'must be greater than 0'))
    expect(await change(world, { [name]: 10.001 })).toMatchObject(refusal(name, 'must be less than or equal to 10'))
    expect(await change(world, { [name]: 0.0005 })).toMatchObject(refusal(name, 'must be a multiple of 0.001'))
  })

  test('D2-SETTINGS-STORAGE-TIMEOUTS: medium is between fast and default', async ({ world }) => {
    const of = (name: string) => `repo_storage_timeout_${name}`
    expect(await change(world, { [of('medium')]: 9 })).toMatchObject(
      refusal(of('medium'), 'must be greater than or equal to 10'),
    )
    expect(await change(world, { [of('medium')]: 56 })).toMatchObject(
      refusal(of('medium'), 'must be less than or equal to 55'),
    )
    expect((await change(world, { [of('fast')]: 56 })).json.message).toHaveProperty(of('fast'))
    expect((await change(world, { [of('fast')]: 1, [of('medium')]: 2, [of('default')]: 3 })).status).toBe(200)
  })

  test('D2-SETTINGS-IMPORT-SOURCES: eleven values, including git and manifest', async ({ world }) => {
    const all = (await world.root.get(path)).json.import_sources
    expect(all).toHaveLength(11)
    for (const sent of [all, ['git', 'manifest'], []])
      expect((await change(world, { import_sources: sent })).json.import_sources).toEqual(sent)
  })

  test('400 for enabling an empty domain blacklist', async ({ world }) => {
    expect(await change(world, { domain_blacklist_enabled: true, domain_blacklist: [] })).toMatchObject(
      refusal('domain_blacklist', 'Domain blacklist cannot be empty if Blacklist is enabled.'),
    )
  })
})
