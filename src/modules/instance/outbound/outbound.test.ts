import { describe, expect, test } from 'vitest'
import { siteAt } from '../../../api/site.ts'
import { withDefaults } from '../../../settings/settings.ts'
import { plainAddress, violationAbout } from './addresses.ts'
import { guardUrl, type Purpose, pinOf } from './guard.ts'
import { credentialsOf, readUrl } from './url.ts'

const own = ['192.0.3.7', '2a00:1:2::7', '127.0.0.1', '::1']
const localhost = 'Requests to localhost are not allowed'
const loopback = 'Requests to loopback addresses are not allowed'
const network = 'Requests to the local network are not allowed'
const linkLocal = 'Requests to the link local network are not allowed'
const shared = 'Requests to the shared address space are not allowed'
const multicast = 'Requests to multicast addresses are not allowed'
const reserved = 'Requests to reserved addresses are not allowed'

describe('outbound addresses', () => {
  test.for([
    ['0.0.0.0', localhost],
    ['::', localhost],
    ['127.0.0.1', localhost],
    ['192.0.3.7', localhost],
    ['2a00:1:2::7', localhost],
    ['127.0.0.2', loopback],
    ['10.1.2.3', network],
    ['172.16.0.1', network],
    ['172.31.255.255', network],
    ['192.168.1.1', network],
    ['fc00::1', network],
    ['fd12:3456::1', network],
    ['fec0::1', network],
    ['169.254.169.254', linkLocal],
    ['fe80::1', linkLocal],
    ['fe80::1%eth0', linkLocal],
    ['100.64.0.1', shared],
    ['224.0.0.1', multicast],
    ['ff02::1', multicast],
    ['255.255.255.255', reserved],
    ['198.18.0.1', reserved],
    ['::ffff:127.0.0.2', loopback],
    ['::ffff:7f00:2', loopback],
    ['::ffff:a9fe:a9fe', linkLocal],
    ['::127.0.0.2', loopback],
    ['64:ff9b::10.0.0.1', network],
    ['64:ff9b:1::10.0.0.1', reserved],
    ['64:ff9b:1:a00:1::', reserved],
    ['64:ff9b:1:ffff:ffff:ffff:8.8.8.8', reserved],
    ['::ffff:0:10.0.0.1', network],
    ['::ffff:0:7f00:2', loopback],
    ['::ffff:0:8.8.8.8', undefined],
    ['0:0:0:0:0:ffff:0a00:0001', network],
    ['::FFFF:192.168.1.1', network],
    ['0:0:0:0:0:0:0:1', localhost],
    ['0000:0000::0001', localhost],
    ['0:0:0:0:0:0:0:0', localhost],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', reserved],
    ['2001:2::1', reserved],
    ['2001:10::1', reserved],
    ['2001:20::1', reserved],
    ['3fff::1', reserved],
    ['5f00::1', reserved],
    ['192.88.99.1', reserved],
    ['2001:4860:4860::8888', undefined],
    ['2001:200::1', undefined],
    ['2002:a00:1::', network],
    ['172.32.0.1', undefined],
    ['8.8.8.8', undefined],
    ['2606:4700::1111', undefined],
    ['::ffff:8.8.8.8', undefined],
    ['2002:808:808::1', undefined],
  ] as const)('refusal of the address %s: %s', ([address, reason]) => {
    expect(violationAbout(address, own)).toBe(reason)
  })

  test('IPv6 addresses that embed an IPv4 address are treated as that one', () => {
    expect(['::ffff:1.2.3.4', '64:ff9b::102:304', '2002:102:304::9', '1::2'].map(plainAddress)).toEqual([
      '1.2.3.4',
      '1.2.3.4',
      '1.2.3.4',
      '1::2',
    ])
  })
})

const rules = { schemes: ['http', 'https', 'git'], lowPorts: [80, 443] }

describe('outbound URLs', () => {
  test.for([
    ['', 'URI is invalid'],
    ['nothing', 'URI is invalid'],
    ['http://a.example/\nx', 'URI is invalid'],
    ['http://a.example/\r\nHost: b', 'URI is invalid'],
    ['http://', 'URI is invalid'],
    ['http://a:b:c/', 'URI is invalid'],
    ['http://a%0d%0ab@a.example/', 'URI is invalid'],
    ['git:x', 'URI is invalid'],
    ['file:///etc/passwd', 'Only allowed schemes are http, https, git'],
    ['ssh://git@a.example/x', 'Only allowed schemes are http, https, git'],
    ['gopher://a.example/x', 'Only allowed schemes are http, https, git'],
    ['ext::sh -c id', 'Only allowed schemes are http, https, git'],
    ['http://-a.example/', 'Hostname or IP address invalid'],
    ['http://a.example:22/', 'Only allowed ports are 80, 443, and any over 1024'],
    ['git://a.example:80/x', undefined],
    ['https://a.example:25/', 'Only allowed ports are 80, 443, and any over 1024'],
    ['http://a.example:8080/', undefined],
    ['http://-oProxyCommand@a.example/', 'Username needs to start with an alphanumeric character'],
    ['https://ann:secret@a.example/x.git', undefined],
    ['git://a.example/x', undefined],
  ] as const)('refusal of the URL %j: %s', ([text, reason]) => {
    const read = readUrl(text, rules)
    expect('blocked' in read ? read.blocked : undefined).toBe(reason)
  })

  test('outbound URLs are parsed as browsers do, in any spelling', () => {
    const host = (text: string) => (readUrl(text, rules) as { host: string }).host
    const spellings = ['0x7f.1', '2130706433', '0177.0.0.1', '127.1', '１２７.０.０.１', '127。0。0。1']
    for (const spelling of spellings)
      for (const scheme of ['http', 'git']) expect(host(`${scheme}://${spelling}/x`)).toBe('127.0.0.1')
    expect(host('http://[::FFFF:127.0.0.1]/')).toBe('::ffff:7f00:1')
    expect(readUrl('git://a.example/x', rules)).toMatchObject({ host: 'a.example', port: 9418 })
    expect(readUrl('https://a.example/x', rules)).toMatchObject({ port: 443 })
  })

  test('credentials of an outbound URL are decoded', () => {
    expect(credentialsOf(new URL('http://ann:p%40ss%3A@a.example'))).toEqual({ username: 'ann', password: 'p@ss:' })
    expect(credentialsOf(new URL('http://a.example'))).toBeUndefined()
  })
})

describe('the outbound guard', () => {
  const ctx = (settings = {}) => ({
    settings: withDefaults(settings),
    site: siteAt('http://stithy.example:3000', 0),
  })
  const ask = (url: string, addresses: readonly string[], settings = {}, purpose: Purpose = 'hook') =>
    guardUrl(ctx(settings), url, { ...rules, purpose }, async () => addresses)

  test('the guard checks every address that a name resolves to', async () => {
    expect(await ask('http://a.example/', ['8.8.8.8', '10.0.0.1'])).toEqual({ blocked: network })
    expect(await ask('http://a.example/', ['8.8.8.8', '::ffff:169.254.169.254'])).toEqual({ blocked: linkLocal })
    expect(await ask('http://a.example/', ['8.8.8.8'])).toMatchObject({ addresses: ['8.8.8.8'] })
  })

  test('the guard refuses names with public and private addresses, in any order and form', async () => {
    const open = '8.8.8.8'
    for (const closed of [
      '127.0.0.1',
      '10.0.0.1',
      '::1',
      '::ffff:10.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      'fe80::1%1',
    ])
      for (const addresses of [[closed], [open, closed], [closed, open], [open, open, closed]])
        expect(await ask('http://a.example/', addresses)).toHaveProperty('blocked')
  })

  test('a request goes to the checked address when the name resolves to another later', async () => {
    const answers = ['8.8.8.8', '127.0.0.1', '10.0.0.1']
    const guarded = await guardUrl(ctx(), 'http://a.example/', { ...rules, purpose: 'import' }, async () => [
      answers.shift()!,
    ])
    if ('blocked' in guarded) throw new Error(guarded.blocked)
    expect(pinOf(ctx(), guarded)).toEqual({ host: 'a.example', port: 80, address: '8.8.8.8' })
    expect(answers).toHaveLength(2)
  })

  test('the guard allows a name that does not resolve', async () => {
    expect(await ask('http://a.example/', [])).toMatchObject({ addresses: [] })
  })

  test('"the guard allows the instance\'s own URL and no other local one"', async () => {
    expect(await ask('http://stithy.example:3000/a/b.git', ['10.0.0.1'])).toMatchObject({ addresses: ['10.0.0.1'] })
    expect(await ask('https://stithy.example:3000/', ['10.0.0.1'])).toEqual({ blocked: network })
    expect(await ask('http://stithy.example:3001/', ['10.0.0.1'])).toEqual({ blocked: network })
  })

  test('the guard allows hosts and networks of the whitelist setting', async () => {
    const trusting = (...entries: string[]) => ({ outbound_local_requests_whitelist: entries })
    expect(await ask('http://A.example/', ['10.0.0.1'], trusting('a.EXAMPLE'))).toMatchObject({ host: 'a.example' })
    expect(await ask('http://a.example/', ['10.0.0.1'], trusting('10.0.0.0/24'))).toMatchObject({ host: 'a.example' })
    expect(await ask('http://10.0.0.1/', [], trusting('10.0.0.1'))).toMatchObject({ addresses: ['10.0.0.1'] })
    expect(await ask('http://a.example/', ['10.0.1.1'], trusting('10.0.0.0/24', 'nonsense/99'))).toEqual({
      blocked: network,
    })
  })

  test.for([
    ['import', { allow_local_requests_from_web_hooks_and_services: true }, true],
    ['import', { allow_local_requests_from_system_hooks: true }, false],
    ['hook', { allow_local_requests_from_web_hooks_and_services: true }, true],
    ['hook', { allow_local_requests_from_system_hooks: true }, false],
    ['system_hook', {}, true],
    ['system_hook', { allow_local_requests_from_system_hooks: false }, false],
    [
      'system_hook',
      { allow_local_requests_from_system_hooks: false, allow_local_requests_from_web_hooks_and_services: true },
      false,
    ],
  ] as const)(
    'D2-SETTINGS-LOCAL-REQUESTS: local network open to the purpose %s with %j: %s',
    async ([purpose, settings, isOpen]) => {
      const answer = await ask('http://a.example/', ['10.0.0.1'], settings, purpose)
      expect(answer).toMatchObject(isOpen ? { host: 'a.example' } : { blocked: network })
    },
  )

  test('the guard returns one address to connect to, unless the setting disables it', async () => {
    const destination = await ask('https://a.example/', ['8.8.8.8', '8.8.4.4'])
    if ('blocked' in destination) throw new Error('blocked')
    expect(pinOf(ctx(), destination)).toEqual({ host: 'a.example', port: 443, address: '8.8.8.8' })
    expect(pinOf(ctx({ dns_rebinding_protection_enabled: false }), destination)).toBeUndefined()
  })
})
