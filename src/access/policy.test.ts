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
  nobody: null,
  somebody: actor(),
  'an external person': actor({ external: true }),
  'an administrator': actor({ admin: true }),
} satisfies Record<string, Caller>

type Case = {
  sentence: string
  rule: Rule
  who: keyof typeof callers
  level?: Level
  visibility?: Visibility
  features?: Record<string, keyof typeof featureLevels>
  flags?: Record<string, boolean>
  allowed: boolean
}

const facts = ({ level = 'none', visibility = 'private', features = {}, flags = {} }: Case): Facts => ({
  visibility: visibilities[visibility],
  level: levels[level],
  features: Object.fromEntries(Object.entries(features).map(([name, value]) => [name, featureLevels[value]])),
  flags,
})

const open: Rule = { from: 'guest', open: 'anyone' }
const signedIn: Rule = { from: 'guest', open: 'signed_in' }
const code: Rule = { from: 'reporter', open: 'anyone', feature: 'repository' }
const mergeRequests: Rule = { from: 'reporter', open: 'anyone', feature: 'merge_requests' }
const closed: Rule = { from: 'developer' }
const administrators: Rule = { from: 'administrator' }

const cases: readonly Case[] = [
  { sentence: 'the level itself is enough', rule: closed, who: 'somebody', level: 'developer', allowed: true },
  { sentence: 'a higher level is enough', rule: closed, who: 'somebody', level: 'owner', allowed: true },
  { sentence: 'a lower level is not', rule: closed, who: 'somebody', level: 'reporter', allowed: false },
  { sentence: 'an administrator needs no level', rule: closed, who: 'an administrator', allowed: true },
  {
    sentence: 'some things are for administrators, whatever the level',
    rule: administrators,
    who: 'somebody',
    level: 'owner',
    allowed: false,
  },
  { sentence: 'and they may do them', rule: administrators, who: 'an administrator', allowed: true },
  { sentence: 'nobody known has no level', rule: closed, who: 'nobody', visibility: 'public', allowed: false },

  {
    sentence: 'D2-VIS-PUBLIC: public is open to nobody known',
    rule: open,
    who: 'nobody',
    visibility: 'public',
    allowed: true,
  },
  {
    sentence: 'a circumstance may keep for members what is public',
    rule: { ...open, openUnless: ['closed'] },
    who: 'somebody',
    visibility: 'public',
    flags: { closed: true },
    allowed: false,
  },
  {
    sentence: 'members have it all the same',
    rule: { ...open, openUnless: ['closed'] },
    who: 'somebody',
    level: 'guest',
    visibility: 'public',
    flags: { closed: true },
    allowed: true,
  },
  { sentence: 'D2-VIS-INTERNAL: internal is not', rule: open, who: 'nobody', visibility: 'internal', allowed: false },
  {
    sentence: 'D2-VIS-INTERNAL: internal is open to whoever signed in',
    rule: open,
    who: 'somebody',
    visibility: 'internal',
    allowed: true,
  },
  {
    sentence: 'but not to the external',
    rule: open,
    who: 'an external person',
    visibility: 'internal',
    allowed: false,
  },
  { sentence: 'for whom public is open', rule: open, who: 'an external person', visibility: 'public', allowed: true },
  {
    sentence: 'and what they are members of',
    rule: open,
    who: 'an external person',
    visibility: 'internal',
    level: 'guest',
    allowed: true,
  },
  {
    sentence: 'D2-VIS-PRIVATE: private is closed to strangers',
    rule: open,
    who: 'somebody',
    visibility: 'private',
    allowed: false,
  },
  {
    sentence: 'signed_in keeps nobody known out of public things',
    rule: signedIn,
    who: 'nobody',
    visibility: 'public',
    allowed: false,
  },
  {
    sentence: 'signed_in lets the signed in into public things',
    rule: signedIn,
    who: 'somebody',
    visibility: 'public',
    allowed: true,
  },

  {
    sentence: 'a feature that is off is off for owners',
    rule: code,
    who: 'somebody',
    level: 'owner',
    features: { repository: 'disabled' },
    allowed: false,
  },
  {
    sentence: 'and for administrators',
    rule: code,
    who: 'an administrator',
    features: { repository: 'disabled' },
    allowed: false,
  },
  { sentence: 'a feature nobody spoke of is off', rule: code, who: 'somebody', level: 'owner', allowed: false },
  {
    sentence: 'a feature for members is closed to strangers',
    rule: code,
    who: 'somebody',
    visibility: 'public',
    features: { repository: 'private' },
    allowed: false,
  },
  {
    sentence: 'and to nobody known',
    rule: code,
    who: 'nobody',
    visibility: 'public',
    features: { repository: 'private' },
    allowed: false,
  },
  {
    sentence: 'and open to guests of what is public, who have what all had before',
    rule: code,
    who: 'somebody',
    level: 'guest',
    visibility: 'public',
    features: { repository: 'private' },
    allowed: true,
  },
  {
    sentence: 'not to guests of what is private: there the rule asks for more',
    rule: code,
    who: 'somebody',
    level: 'guest',
    features: { repository: 'private' },
    allowed: false,
  },
  {
    sentence: 'merge requests for members are for reporters',
    rule: mergeRequests,
    who: 'somebody',
    level: 'guest',
    visibility: 'public',
    features: { merge_requests: 'private' },
    allowed: false,
  },
  {
    sentence: 'and up',
    rule: mergeRequests,
    who: 'somebody',
    level: 'reporter',
    visibility: 'public',
    features: { merge_requests: 'private' },
    allowed: true,
  },
  {
    sentence: 'administrators have features for members',
    rule: code,
    who: 'an administrator',
    features: { repository: 'private' },
    allowed: true,
  },
  {
    sentence: 'an enabled feature follows the visibility',
    rule: code,
    who: 'nobody',
    visibility: 'public',
    features: { repository: 'enabled' },
    allowed: true,
  },

  {
    sentence: 'a flag grants',
    rule: { from: 'owner', or: ['self'] },
    who: 'somebody',
    flags: { self: true },
    allowed: true,
  },
  {
    sentence: 'but not to nobody known',
    rule: { from: 'owner', or: ['self'] },
    who: 'nobody',
    flags: { self: true },
    allowed: false,
  },
  {
    sentence: 'a flag takes away',
    rule: { from: 'guest', unless: ['archived'] },
    who: 'somebody',
    level: 'owner',
    flags: { archived: true },
    allowed: false,
  },
  {
    sentence: 'from administrators, too',
    rule: { from: 'guest', unless: ['archived'] },
    who: 'an administrator',
    flags: { archived: true },
    allowed: false,
  },
  {
    sentence: 'a flag that is not raised does nothing',
    rule: { from: 'guest', unless: ['archived'] },
    who: 'somebody',
    level: 'guest',
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
