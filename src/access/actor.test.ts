import { expect, test } from 'vitest'
import { type Actor, accountOf, originOf } from './actor.ts'

const ann = { id: 7, tokenId: 3 } as Actor

test('actions of a deploy key or token count for the account that created it, those of a user for the user', () => {
  expect(accountOf(ann)).toBe(7)
  for (const machine of ['deployKey', 'deployToken'] as const) {
    expect(accountOf({ ...ann, id: 0, [machine]: { id: 5, creatorId: 9 } })).toBe(9)
    expect(accountOf({ ...ann, id: 0, [machine]: { id: 5, creatorId: null } })).toBeNull()
  }
})

test('the origin of an impersonated caller names the administrator and the token of the administrator', () => {
  expect(originOf(ann, '::1')).toEqual({ address: '::1', tokenId: 3, impersonatorId: undefined })
  expect(originOf({ ...ann, sudo: { id: 1, tokenId: 2 } }, undefined)).toMatchObject({ tokenId: 2, impersonatorId: 1 })
  expect(originOf({ ...ann, sudo: { id: 1, tokenId: undefined } }, undefined).tokenId).toBeUndefined()
  expect(originOf(null, undefined)).toEqual({ address: undefined, tokenId: undefined, impersonatorId: undefined })
})
