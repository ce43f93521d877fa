import { expect, test } from 'vitest'
import type { Actor, Caller } from './actor.ts'
import { levels } from './levels.ts'
import { allows, type Facts, type Policy, type Rule } from './policy.ts'

export const actor = { admin: false, external: false } as Actor
export const admin = { ...actor, admin: true }

/** In ascending order: a rule that allows one of these allows all after it. */
export const ladder = [
  'anonymous',
  'stranger',
  'guest',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'administrator',
] as const
export type Step = (typeof ladder)[number]

export const callerOf = (step: Step): Caller => (step === 'anonymous' ? null : step === 'administrator' ? admin : actor)
export const levelOf = (step: Step): number => (step in levels ? levels[step as keyof typeof levels] : 0)
export const on = {
  issues: 20,
  repository: 20,
  forking: 20,
  merge_requests: 20,
  builds: 20,
  wiki: 20,
  snippets: 20,
  container_registry: 20,
}

/** The lowest role that has access at this visibility; `never` when not even administrators have. */
export function least(rule: Rule, visibility: number, more: Partial<Facts> = {}): Step | 'never' {
  const may = ladder.map((step) =>
    allows(rule, callerOf(step), { visibility, level: levelOf(step), features: on, flags: {}, ...more }),
  )
  const first = may.indexOf(true)
  expect(may.slice(first === -1 ? may.length : first)).not.toContain(false)
  return first === -1 ? 'never' : ladder[first]!
}

/** An ability, and the lowest role that has it on a private and on a public subject. */
export type Row<A extends string> = readonly [ability: A, onPrivate: Step, onPublic: Step]

/** Compares every ability of a policy with its row. */
export function matches<A extends string>(what: string, policy: Policy<A>, rows: readonly Row<A>[]): void {
  test.for(rows)(`${what} ability %s: private from %s, public from %s`, ([ability, onPrivate, onPublic]) => {
    expect(least(policy[ability], 0)).toBe(onPrivate)
    expect(least(policy[ability], 20)).toBe(onPublic)
  })

  test(`every ${what} ability has a row`, () => {
    expect(rows.map(([ability]) => ability).toSorted()).toEqual(Object.keys(policy).toSorted())
  })
}

/** The abilities that these facts change, with the lowest role that then has them on a private and on a public subject. */
export function changedBy<A extends string>(policy: Policy<A>, more: Partial<Facts>): Record<string, string> {
  const roles = (rule: Rule, facts: Partial<Facts> = {}) => `${least(rule, 0, facts)}, ${least(rule, 20, facts)}`
  return Object.fromEntries(
    Object.entries<Rule>(policy)
      .map(([ability, rule]): [string, string, string] => [ability, roles(rule), roles(rule, more)])
      .filter(([, before, after]) => before !== after)
      .map(([ability, , after]) => [ability, after]),
  )
}

/** All of these abilities, with one result. */
export const all = (result: string, ...abilities: readonly string[]): Record<string, string> =>
  Object.fromEntries(abilities.map((ability) => [ability, result]))

export const flag = (name: string): Partial<Facts> => ({ flags: { [name]: true } })
export const without = (feature: string): Partial<Facts> => ({ features: { ...on, [feature]: 0 } })
export const refused = 'never, never'
export const forUsers = 'stranger, stranger'
