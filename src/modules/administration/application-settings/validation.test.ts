import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { repositoriesDir } from '../../../config.ts'
import { certificate, change, errorOf, keyOfCertificate, otherKey, path, refusal } from './testing.ts'

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
    ['admin_notification_email', '<a@example.com>', 'is invalid'],
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

  test('400 for a repository storage whose name no storage can have, and for a file', async ({ world }) => {
    const above = repositoriesDir(world.config)
    await mkdir(join(above, 'Fast.SSD'), { recursive: true })
    await writeFile(join(above, 'notes'), 'no folder')
    for (const name of ['Fast.SSD', 'notes'])
      expect(await change(world, { repository_storages: ['default', name] })).toMatchObject(
        refusal('repository_storages', `can't include: ${name}`),
      )
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
