import { describe, expect, test } from 'vitest'
import type { Actor, Caller } from './actor.ts'
import { featureLevels, type Level, levels, type Visibility, visibilities } from './levels.ts'
import { allows, type Facts, needsAccount, type Rule } from './policy.ts'

const actor = (more: Partial<Actor> = {}): Actor => ({
  id: 7,
  username: 'ann',
  name: 'Ann',
  email: 'ann@example.com',
  admin: false,
  external: false,
  canCreateGroup: true,
  projectsLimit: 10,
  scopes: undefined,
  tokenId: undefined,
  ...more,
})

const callers = {
  anonymous: null,
  user: actor(),
  'external user': actor({ external: true }),
  administrator: actor({ admin: true }),
  'limited token': actor({ limits: { projects: [1], groups: [] } }),
} satisfies Record<string, Caller>

type Case = {
  sentence: string
  rule: Rule
  who: keyof typeof callers
  level?: Level
  visibility?: Visibility
  features?: Record<string, keyof typeof featureLevels>
  flags?: Record<string, boolean>
  withinLimits?: boolean
  allowed: boolean
}

const facts = ({ level = 'none', visibility = 'private', features = {}, flags = {}, withinLimits }: Case): Facts => ({
  visibility: visibilities[visibility],
  level: levels[level],
  features: Object.fromEntries(Object.entries(features).map(([name, value]) => [name, featureLevels[value]])),
  flags,
  withinLimits,
})

const open: Rule = { from: 'guest', open: 'anyone' }
const signedIn: Rule = { from: 'guest', open: 'signed_in' }
const code: Rule = { from: 'reporter', open: 'anyone', feature: 'repository' }
const mergeRequests: Rule = { from: 'reporter', open: 'anyone', feature: 'merge_requests' }
const closed: Rule = { from: 'developer' }
const administrators: Rule = { from: 'administrator' }

const cases: readonly Case[] = [
  { sentence: 'the required level is allowed', rule: closed, who: 'user', level: 'developer', allowed: true },
  { sentence: 'a higher level is allowed', rule: closed, who: 'user', level: 'owner', allowed: true },
  { sentence: 'a lower level is refused', rule: closed, who: 'user', level: 'reporter', allowed: false },
  { sentence: 'an administrator is allowed without a level', rule: closed, who: 'administrator', allowed: true },
  {
    sentence: 'an administrators-only rule refuses owners',
    rule: administrators,
    who: 'user',
    level: 'owner',
    allowed: false,
  },
  {
    sentence: 'an administrators-only rule allows administrators',
    rule: administrators,
    who: 'administrator',
    allowed: true,
  },
  { sentence: 'anonymous callers have no level', rule: closed, who: 'anonymous', visibility: 'public', allowed: false },

  {
    sentence: 'D2-VIS-PUBLIC: anonymous callers are allowed in public',
    rule: open,
    who: 'anonymous',
    visibility: 'public',
    allowed: true,
  },
  {
    sentence: 'an openUnless flag refuses others in public',
    rule: { ...open, openUnless: ['closed'] },
    who: 'user',
    visibility: 'public',
    flags: { closed: true },
    allowed: false,
  },
  {
    sentence: 'an openUnless flag does not refuse members',
    rule: { ...open, openUnless: ['closed'] },
    who: 'user',
    level: 'guest',
    visibility: 'public',
    flags: { closed: true },
    allowed: true,
  },
  {
    sentence: 'D2-VIS-INTERNAL: anonymous callers are refused in internal',
    rule: open,
    who: 'anonymous',
    visibility: 'internal',
    allowed: false,
  },
  {
    sentence: 'D2-VIS-INTERNAL: signed-in users are allowed in internal',
    rule: open,
    who: 'user',
    visibility: 'internal',
    allowed: true,
  },
  {
    sentence: 'external users are refused in internal',
    rule: open,
    who: 'external user',
    visibility: 'internal',
    allowed: false,
  },
  {
    sentence: 'external users are allowed in public',
    rule: open,
    who: 'external user',
    visibility: 'public',
    allowed: true,
  },
  {
    sentence: 'external members are allowed in internal',
    rule: open,
    who: 'external user',
    visibility: 'internal',
    level: 'guest',
    allowed: true,
  },
  {
    sentence: 'D2-VIS-PRIVATE: strangers are refused in private',
    rule: open,
    who: 'user',
    visibility: 'private',
    allowed: false,
  },
  {
    sentence: 'a signed_in rule refuses anonymous callers in public',
    rule: signedIn,
    who: 'anonymous',
    visibility: 'public',
    allowed: false,
  },
  {
    sentence: 'a signed_in rule allows users in public',
    rule: signedIn,
    who: 'user',
    visibility: 'public',
    allowed: true,
  },

  {
    sentence: 'a disabled feature is refused to owners',
    rule: code,
    who: 'user',
    level: 'owner',
    features: { repository: 'disabled' },
    allowed: false,
  },
  {
    sentence: 'a disabled feature is refused to administrators',
    rule: code,
    who: 'administrator',
    features: { repository: 'disabled' },
    allowed: false,
  },
  { sentence: 'a feature without a level is refused', rule: code, who: 'user', level: 'owner', allowed: false },
  {
    sentence: 'a feature for members is refused to strangers',
    rule: code,
    who: 'user',
    visibility: 'public',
    features: { repository: 'private' },
    allowed: false,
  },
  {
    sentence: 'a feature for members is refused to anonymous callers',
    rule: code,
    who: 'anonymous',
    visibility: 'public',
    features: { repository: 'private' },
    allowed: false,
  },
  {
    sentence: 'a feature for members is allowed to guests in public',
    rule: code,
    who: 'user',
    level: 'guest',
    visibility: 'public',
    features: { repository: 'private' },
    allowed: true,
  },
  {
    sentence: 'a feature for members is refused to guests in private',
    rule: code,
    who: 'user',
    level: 'guest',
    features: { repository: 'private' },
    allowed: false,
  },
  {
    sentence: 'merge requests for members are refused to guests',
    rule: mergeRequests,
    who: 'user',
    level: 'guest',
    visibility: 'public',
    features: { merge_requests: 'private' },
    allowed: false,
  },
  {
    sentence: 'merge requests for members are allowed to reporters',
    rule: mergeRequests,
    who: 'user',
    level: 'reporter',
    visibility: 'public',
    features: { merge_requests: 'private' },
    allowed: true,
  },
  {
    sentence: 'a feature for members is allowed to administrators',
    rule: code,
    who: 'administrator',
    features: { repository: 'private' },
    allowed: true,
  },
  {
    sentence: 'an enabled feature is allowed in public',
    rule: code,
    who: 'anonymous',
    visibility: 'public',
    features: { repository: 'enabled' },
    allowed: true,
  },

  {
    sentence: 'a granting flag allows users',
    rule: { from: 'owner', or: ['self'] },
    who: 'user',
    flags: { self: true },
    allowed: true,
  },
  {
    sentence: 'a granting flag does not allow anonymous callers',
    rule: { from: 'owner', or: ['self'] },
    who: 'anonymous',
    flags: { self: true },
    allowed: false,
  },
  {
    sentence: 'a denying flag refuses owners',
    rule: { from: 'guest', unless: ['archived'] },
    who: 'user',
    level: 'owner',
    flags: { archived: true },
    allowed: false,
  },
  {
    sentence: 'a denying flag refuses administrators',
    rule: { from: 'guest', unless: ['archived'] },
    who: 'administrator',
    flags: { archived: true },
    allowed: false,
  },
  {
    sentence: 'a denying flag that is not set has no effect',
    rule: { from: 'guest', unless: ['archived'] },
    who: 'user',
    level: 'guest',
    allowed: true,
  },
  {
    sentence: 'one of several denying flags is enough',
    rule: { from: 'guest', unless: ['archived', 'importing'] },
    who: 'user',
    level: 'owner',
    flags: { importing: true },
    allowed: false,
  },
  {
    sentence: 'one of several granting flags is enough',
    rule: { from: 'owner', or: ['self', 'friend'] },
    who: 'user',
    flags: { friend: true },
    allowed: true,
  },
  {
    sentence: 'one of several openUnless flags is enough',
    rule: { ...open, openUnless: ['closed', 'locked'] },
    who: 'user',
    visibility: 'public',
    flags: { locked: true },
    allowed: false,
  },

  {
    sentence: 'a subject outside of its limits is refused even in public',
    rule: open,
    who: 'limited token',
    level: 'owner',
    visibility: 'public',
    withinLimits: false,
    allowed: false,
  },
  {
    sentence: 'a subject without limits is refused',
    rule: open,
    who: 'limited token',
    visibility: 'public',
    allowed: false,
  },
  {
    sentence: 'a subject within its limits is allowed',
    rule: closed,
    who: 'limited token',
    level: 'developer',
    withinLimits: true,
    allowed: true,
  },
  {
    sentence: 'an evenLimited rule is allowed everywhere',
    rule: { ...open, evenLimited: true },
    who: 'limited token',
    visibility: 'public',
    allowed: true,
  },
  {
    sentence: 'other callers have no limits',
    rule: closed,
    who: 'user',
    level: 'developer',
    withinLimits: false,
    allowed: true,
  },
]

describe('policy rules', () => {
  test.for(cases)('$sentence ($who)', (each) => {
    expect(allows(each.rule, callers[each.who], facts(each))).toBe(each.allowed)
  })

  test('a rule needs an account unless it is open to anyone', () => {
    expect([open, signedIn, closed].map(needsAccount)).toEqual([false, true, true])
  })
})
