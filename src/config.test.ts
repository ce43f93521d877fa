import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { parseConfig } from './config.ts'
import { ConfigError } from './environment.ts'

const parse = (env: Record<string, string>) => parseConfig(env, '/srv')

const mistakesOf = (env: Record<string, string>): readonly string[] => {
  try {
    parse(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
  return []
}

describe('parseConfig', () => {
  test('an empty environment gives the documented defaults', () => {
    expect(parse({})).toEqual({
      dataDir: '/srv/data',
      http: { host: '127.0.0.1', port: 8080 },
      sshPort: 2222,
      externalUrl: 'http://127.0.0.1:8080',
      database: { kind: 'embedded' },
      blobUrl: 'file:///srv/data/blobs',
      registryUrl: 'http://127.0.0.1:8080',
      blobDownloads: 'redirect',
      processes: Math.min(availableParallelism(), 8),
      cacheBytes: 40 * 1024 * 1024,
      plan: 'ultimate',
      root: {},
      mail: { from: 'Stithy <stithy@127.0.0.1>' },
      impersonation: true,
      metricsFrom: ['127.0.0.0/8', '::1'],
      proxies: [],
      logLevel: 'info',
      backup: { url: undefined, at: [], keep: undefined, keyFile: undefined, rate: 50 },
    })
  })

  test('every setting is read', () => {
    const config = parse({
      STITHY_DATA_DIR: '/var/lib/stithy',
      STITHY_HTTP_HOST: '::1',
      STITHY_HTTP_PORT: '80',
      STITHY_SSH_PORT: '0',
      STITHY_EXTERNAL_URL: 'https://git.example.com/forge/',
      STITHY_DATABASE_URL: 'postgresql://ann:secret@db/forge',
      STITHY_BLOB_URL: 'blobs here',
      STITHY_REGISTRY_URL: 'https://images.example.com',
      STITHY_BLOB_DOWNLOADS: 'proxy',
      STITHY_PROCESSES: '3',
      STITHY_CACHE_MB: '195',
      STITHY_PLAN: 'free',
      STITHY_ROOT_PASSWORD: 'correcthorse',
      STITHY_ROOT_TOKEN: 'a-token-of-20-letters',
      STITHY_SMTP_URL: 'smtps://ann:secret@mail.example.com',
      STITHY_MAIL_FROM: 'The forge <git@example.com>',
      STITHY_IMPERSONATION: 'off',
      STITHY_METRICS_FROM: '10.0.0.0/8, 2001:db8::1',
      STITHY_PROXIES: '172.16.0.0/12',
      STITHY_LOG_LEVEL: 'debug',
      STITHY_BACKUP_URL: 's3://bucket/backups',
      STITHY_BACKUP_AT: '14:30, 02:05',
      STITHY_BACKUP_KEEP: '7d4w',
      STITHY_BACKUP_KEY_FILE: 'key',
      STITHY_BACKUP_RATE: '20',
    })
    expect(config).toEqual({
      dataDir: '/var/lib/stithy',
      http: { host: '::1', port: 80 },
      sshPort: 0,
      externalUrl: 'https://git.example.com/forge',
      database: { kind: 'external', url: 'postgresql://ann:secret@db/forge' },
      blobUrl: 'file:///srv/blobs%20here',
      registryUrl: 'https://images.example.com',
      blobDownloads: 'proxy',
      processes: 3,
      cacheBytes: 60 * 1024 * 1024,
      plan: 'free',
      root: { password: 'correcthorse', token: 'a-token-of-20-letters' },
      mail: { smtpUrl: 'smtps://ann:secret@mail.example.com', from: 'The forge <git@example.com>' },
      impersonation: false,
      metricsFrom: ['10.0.0.0/8', '2001:db8::1'],
      proxies: ['172.16.0.0/12'],
      logLevel: 'debug',
      backup: {
        url: 's3://bucket/backups',
        at: [125, 870],
        keep: { days: 7, weeks: 4, months: 0 },
        keyFile: '/srv/key',
        rate: 20,
      },
    })
  })

  test('nothing of it can be changed', () => {
    const config = parse({})
    for (const part of [config, config.http, config.database, config.root]) expect(Object.isFrozen(part)).toBe(true)
  })

  test('all mistakes are reported together, each by the name of its setting', () => {
    const wrong = {
      STITHY_HTTP_HOST: 'not a host',
      STITHY_HTTP_PORT: '80801',
      STITHY_SSH_PORT: 'ssh',
      STITHY_EXTERNAL_URL: 'git.example.com',
      STITHY_DATABASE_URL: 'mysql://root@db/forge',
      STITHY_BLOB_URL: 's3://key:secret@bucket',
      STITHY_BLOB_DOWNLOADS: 'sometimes',
      STITHY_REGISTRY_URL: 'https://images.example.com/path',
      STITHY_PROCESSES: '0',
      STITHY_CACHE_MB: '1',
      STITHY_PLAN: 'gold',
      STITHY_ROOT_PASSWORD: 'short',
      STITHY_ROOT_TOKEN: 'nineteen-characters',
      STITHY_LOG_LEVEL: 'loud',
      STITHY_METRICS_FROM: '10.0.0.0/33',
      STITHY_PROXIES: 'traefik',
      STITHY_BACKUP_URL: 'ftp://example.com',
      STITHY_BACKUP_AT: '24:00',
      STITHY_BACKUP_KEEP: '4w',
      STITHY_BACKUP_RATE: 'fast',
    }
    const mistakes = mistakesOf(wrong)
    expect(mistakes.map((mistake) => mistake.split(' ')[0]).sort()).toEqual(Object.keys(wrong).sort())
    expect(() => parse(wrong)).toThrow(/^20 invalid settings:\n {2}- STITHY_.*\n {2}- STITHY_/)
  })

  test('the token of the first administrator has letters that a header can send', () => {
    const mistakes = mistakesOf({ STITHY_ROOT_TOKEN: 'a-token-of-20-lettérs' })
    expect(mistakes).toEqual(['STITHY_ROOT_TOKEN must contain only ASCII, because no header can send other letters'])
  })

  test('a schedule of backups needs a place for them', () => {
    for (const url of ['/data', '/data/backups', 'file:///data/backups'])
      expect(mistakesOf({ STITHY_DATA_DIR: '/data', STITHY_BACKUP_URL: url })).toEqual([
        'STITHY_BACKUP_URL must be outside of the data folder, with which the backups would be lost',
      ])
    expect(mistakesOf({ STITHY_DATA_DIR: '/data', STITHY_BACKUP_URL: '/data-backups' })).toEqual([])
    expect(mistakesOf({ STITHY_BACKUP_AT: '02:30' })).toEqual([
      'STITHY_BACKUP_AT needs STITHY_BACKUP_URL, the place of the backups',
    ])
  })

  test.for([
    { name: 'STITHY_HTP_PORT', nearest: 'STITHY_HTTP_PORT' },
    { name: 'STITHY_EXTERNAL_ULR', nearest: 'STITHY_EXTERNAL_URL' },
    { name: 'STITHY_DATADIR', nearest: 'STITHY_DATA_DIR' },
    { name: 'stithy_log_level', nearest: 'STITHY_LOG_LEVEL' },
    { name: 'STITHY_PORT', nearest: 'STITHY_HTTP_PORT or STITHY_SSH_PORT' },
  ])('the misspelt setting $name is refused with the nearest known one', ({ name, nearest }) => {
    expect(mistakesOf({ [name]: 'secret' })).toEqual([`${name} is not a setting: did you mean ${nearest}?`])
  })

  test('an unknown setting is refused even if it is empty', () => {
    expect(() => parse({ STITHY_DATABASE: '' })).toThrow(
      'Invalid setting: STITHY_DATABASE is not a setting: did you mean STITHY_DATABASE_URL?',
    )
  })

  test('the variables that Kubernetes sets for a service named stithy are not settings', () => {
    const kubernetes = {
      STITHY_SERVICE_HOST: '10.0.0.1',
      STITHY_SERVICE_PORT: '80',
      STITHY_SERVICE_PORT_HTTP: '80',
      STITHY_PORT: 'tcp://10.0.0.1:80',
      STITHY_PORT_80_TCP: 'tcp://10.0.0.1:80',
      STITHY_PORT_80_TCP_ADDR: '10.0.0.1',
    }
    expect(mistakesOf(kubernetes)).toEqual([])
    expect(mistakesOf({ ...kubernetes, STITHY_SERVICE: 'x' })).toHaveLength(1)
  })

  test('services of Kubernetes named stithy-ssh and stithy-db change no setting and prevent no start', () => {
    const kubernetes = {
      STITHY_SSH_SERVICE_HOST: '10.0.0.2',
      STITHY_SSH_SERVICE_PORT: '22',
      STITHY_SSH_PORT: 'tcp://10.0.0.2:22',
      STITHY_SSH_PORT_22_TCP_PROTO: 'tcp',
      STITHY_DB_SERVICE_HOST: '10.0.0.3',
      STITHY_DB_PORT: 'tcp://10.0.0.3:5432',
    }
    expect(parse(kubernetes).sshPort).toBe(2222)
    expect(parse({ ...kubernetes, STITHY_SSH_PORT: '2022' }).sshPort).toBe(2022)
    expect(mistakesOf({ STITHY_SSH_PORT: 'tcp://10.0.0.2:22' })).toHaveLength(1)
    expect(mistakesOf({ ...kubernetes, STITHY_WEB_PORT: '80' })).toHaveLength(1)
  })

  test('a violation never shows a secret', () => {
    const text = mistakesOf({
      STITHY_ROOT_PASSWORD: 'hunter2',
      STITHY_ROOT_TOKEN: 'hunter2',
      STITHY_DATABASE_URL: 'mysql://root:hunter2@db/forge',
    }).join()
    expect(text).toContain('STITHY_DATABASE_URL')
    expect(text).not.toContain('hunter2')
  })

  test.for([
    {
      why: 'an address that means all interfaces is no address to visit',
      env: { STITHY_HTTP_HOST: '0.0.0.0' },
      url: 'http://localhost:8080',
    },
    { why: 'an IPv6 address needs brackets', env: { STITHY_HTTP_HOST: '::1' }, url: 'http://[::1]:8080' },
    { why: 'port 80 goes without saying', env: { STITHY_HTTP_PORT: '80' }, url: 'http://127.0.0.1' },
    { why: 'an empty setting is an absent one', env: { STITHY_EXTERNAL_URL: ' ' }, url: 'http://127.0.0.1:8080' },
  ])('external URL: $why', ({ env, url }) => {
    expect(parse(env as Record<string, string>).externalUrl).toBe(url)
  })

  test.for([
    { value: 'file:///srv/blobs', blobUrl: 'file:///srv/blobs' },
    { value: '/mnt/blobs', blobUrl: 'file:///mnt/blobs' },
    { value: 'gs://bucket', mistake: 'STITHY_BLOB_URL must be a folder, a file: URL or an s3: URL, not a gs: URL' },
    { value: 's3://bucket', blobUrl: 's3://bucket' },
    {
      value: 's3://bucket/a/b?endpoint=https://s3.example.com:9000&region=eu-1&path_style=off&profile=blobs',
      blobUrl: 's3://bucket/a/b?endpoint=https://s3.example.com:9000&region=eu-1&path_style=off&profile=blobs',
    },
    {
      value: 's3://key:secret@bucket',
      mistake:
        'STITHY_BLOB_URL must contain no credentials: the AWS SDK reads them, for example from AWS_ACCESS_KEY_ID',
    },
    {
      value: 's3://bucket/100%25',
      mistake: "STITHY_BLOB_URL must have a prefix of letters, digits and -_.!*'()/",
    },
    { value: 's3:///prefix', mistake: 'STITHY_BLOB_URL must name a bucket: s3://bucket/prefix' },
    {
      value: 's3://bucket?zone=1',
      mistake: 'STITHY_BLOB_URL has the unknown parameter "zone", and knows endpoint, region, path_style, profile',
    },
    {
      value: 's3://bucket?endpoint=s3.example.com',
      mistake: 'STITHY_BLOB_URL must have an endpoint like https://s3.example.com:9000, without a path',
    },
    {
      value: 's3://bucket?path_style=yes',
      mistake: 'STITHY_BLOB_URL must have path_style=on or path_style=off',
    },
    { value: 'file://server/blobs', mistake: 'STITHY_BLOB_URL must name a folder: file:///srv/stithy/blobs' },
  ])('blobs in $value', ({ value, blobUrl, mistake }) => {
    const env = { STITHY_BLOB_URL: value }
    if (mistake === undefined) expect(parse(env).blobUrl).toBe(blobUrl)
    else expect(mistakesOf(env)).toEqual([mistake])
  })

  test.for(['not-an-address', '10.0.0.0/', '10.0.0.0/8,', '10.0.0.0/8/8', '::/129', 'fe80::1%eth0', '10.0.0/8'])(
    'figures are for no %s',
    (value) => {
      expect(mistakesOf({ STITHY_METRICS_FROM: value })).toEqual([
        expect.stringMatching(/^STITHY_METRICS_FROM must be addresses and networks with commas between them, and "/),
      ])
    },
  )

  test('a database on a socket has a user and no host', () => {
    const url = 'postgresql://ann@/forge?host=/run/postgresql'
    expect(parse({ STITHY_DATABASE_URL: url }).database).toEqual({ kind: 'external', url })
  })

  test('one port cannot serve both HTTP and SSH', () => {
    expect(mistakesOf({ STITHY_HTTP_PORT: '2222' })).toHaveLength(1)
  })
})
