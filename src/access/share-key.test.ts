import { expect, test } from 'vitest'
import type { Actor } from './actor.ts'
import { networkOf, shareKeyOf } from './share-key.ts'

test('anonymous clients share by IPv4 address or by the first 64 bits of an IPv6 address', () => {
  expect(networkOf('192.0.2.7')).toBe('192.0.2.7')
  expect(networkOf('::ffff:192.0.2.7')).toBe('192.0.2.7')
  for (const address of [
    '2001:db8:1:2:3:4:5:6',
    '2001:db8:1:2::',
    '2001:0DB8:0001:0002:ffff::1',
    '2001:db8:1:2::1%eth0',
  ])
    expect(networkOf(address)).toBe('2001:db8:1:2::/64')
  expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0::/64')
  expect(networkOf('::1')).toBe('0:0:0:0::/64')
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
  expect(networkOf('2001:0db8:1:0002::')).toBe('2001:db8:1:2::/64')
})

const actor = (more: Partial<Actor>) => ({ id: 7, ...more }) as Actor

test('bots, deploy keys and deploy tokens use the share of the account that created them', () => {
  const owner = shareKeyOf(actor({}), undefined)
  for (const made of [
    actor({ id: 8, bot: { creatorId: 7 } }),
    actor({ id: 0, deployKey: { id: 1, creatorId: 7 } }),
    actor({ id: 0, deployToken: { id: 1, creatorId: 7 } }),
  ])
    expect(shareKeyOf(made, '192.0.2.7')).toBe(owner)
})

test('accounts, and deploy keys and tokens without a creator, have their own shares', () => {
  expect(shareKeyOf(null, undefined)).toBe('')
  const keys = [
    shareKeyOf(null, '192.0.2.7'),
    shareKeyOf(actor({}), '192.0.2.7'),
    shareKeyOf(actor({ id: 0, deployKey: { id: 7, creatorId: null } }), undefined),
    shareKeyOf(actor({ id: 0, deployToken: { id: 7, creatorId: null } }), undefined),
  ]
  expect(new Set(keys).size).toBe(4)
  expect(shareKeyOf(actor({ sudo: { id: 1, tokenId: 2 } }), undefined)).toBe(shareKeyOf(actor({ id: 1 }), undefined))
})
