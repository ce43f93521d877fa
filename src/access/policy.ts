import type { Viewer } from './actor.ts'
import { featureLevels, type Level, levels, visibilities } from './levels.ts'

/** Everything a rule may look at. Loaded once, with the subject; rules never query. */
export type Facts = {
  /** A number of `visibilities`. */
  readonly visibility: number
  /** The caller's effective access level, a number of `levels`. */
  readonly level: number
  /** Feature name → `featureLevels`. A feature that is absent is off. */
  readonly features: Readonly<Record<string, number>>
  /** Whether the caller's limited token covers the subject; absent if the token is not limited. */
  readonly withinLimits?: boolean | undefined
  /** Flags by name: `archived`, `own`, … An absent flag is false. */
  readonly flags: Readonly<Record<string, boolean>>
}

/** Who has an ability, on which subjects, and which facts remove it. */
export type Rule = {
  /** Lowest access level that grants it. Administrators always count as owners; `administrator` means only them. */
  readonly from: Level | 'administrator'
  /**
   * Non-members who have it as well, depending on the visibility: `anyone` (on public subjects, anonymous callers included)
   * or `signed_in` (on public and, unless external, internal subjects).
   */
  readonly open?: 'anyone' | 'signed_in'
  /** Flags of which any one limits it to members, whatever `open` says. */
  readonly openUnless?: readonly string[]
  /** Feature that must be enabled; if it is enabled for members only, `open` applies to members only. */
  readonly feature?: string
  /** Flags of which any one grants the ability to an authenticated caller. */
  readonly or?: readonly string[]
  /** Flags that remove it from all callers, administrators included. */
  readonly unless?: readonly string[]
  /** Also granted with a token limited to other projects or groups, because the result reveals none or is filtered by the limits. */
  readonly evenLimited?: true
}

export type Policy<Ability extends string> = Readonly<Record<Ability, Rule>>

/** Lowest access level for a members-only feature. */
export const featureMembers = (name: string): Level => (name === 'merge_requests' ? 'reporter' : 'guest')

/** Whether the feature's own access level makes it available to the caller. */
export function hasFeature(name: string, caller: Viewer, { features, level }: Facts): boolean {
  const stored = features[name] ?? featureLevels.disabled
  if (stored !== featureLevels.private) return stored > featureLevels.private
  return caller !== null && (caller.admin || level >= levels[featureMembers(name)])
}

/** Decides whether the caller has the ability. Pure; every transport calls it. */
export function allows(rule: Rule, caller: Viewer, facts: Facts): boolean {
  if (caller?.limits && !facts.withinLimits && !rule.evenLimited) return false
  if (rule.unless?.some((flag) => facts.flags[flag])) return false
  if (rule.feature !== undefined && !hasFeature(rule.feature, caller, facts)) return false
  if (caller !== null) {
    if (caller.admin || (rule.from !== 'administrator' && facts.level >= levels[rule.from])) return true
    if (rule.or?.some((flag) => facts.flags[flag])) return true
  }
  if (rule.open === undefined || rule.openUnless?.some((flag) => facts.flags[flag])) return false
  if (caller === null && rule.open !== 'anyone') return false
  return facts.visibility >= lowestOpen(caller)
}

/** The lowest visibility that is enough without membership. */
export const lowestOpen = (caller: Viewer): number =>
  caller === null || caller.external ? visibilities.public : visibilities.internal

/** True if anonymous callers never have the ability, so that authentication is required before anything is loaded. */
export const needsAccount = (rule: Rule): boolean => rule.open !== 'anyone'
