import type { Viewer } from './actor.ts'
import { featureLevels, type Level, levels, visibilities } from './levels.ts'

/** Everything a rule may look at. Loaded once, with the subject; rules never query. */
export type Facts = {
  /** As `visibilities` numbers it. */
  readonly visibility: number
  /** The caller's effective access level, as `levels` numbers it. */
  readonly level: number
  /** Feature name → `featureLevels`. A feature that is absent is off. */
  readonly features: Readonly<Record<string, number>>
  /** Whether it lies within what the caller's token is limited to, if it is limited. */
  readonly withinLimits?: boolean | undefined
  /** Circumstances by name: `archived`, `self`, … An absent one is false. */
  readonly flags: Readonly<Record<string, boolean>>
}

/** Who has an ability, on what, and what takes it away. */
export type Rule = {
  /** Lowest membership that grants it. Administrators always count as owners; some things only they may do. */
  readonly from: Level | 'administrator'
  /**
   * Non-members who have it too, as far as the visibility lets them in: `anyone` (nobody known included, where the
   * subject is public) or `signed_in` (on public and, unless external, internal subjects).
   */
  readonly open?: 'anyone' | 'signed_in'
  /** Flags of which any one keeps it for members, whatever `open` says. */
  readonly openUnless?: readonly string[]
  /** Must be switched on; when it is for members only, `open` counts for members alone. */
  readonly feature?: string
  /** Flags of which any one grants the ability to somebody known. */
  readonly or?: readonly string[]
  /** Flags that take it away from everyone, administrators included. */
  readonly unless?: readonly string[]
  /** Also with a token that is limited to other projects or groups, since it says nothing of any or filters by them. */
  readonly evenLimited?: true
}

export type Policy<Ability extends string> = Readonly<Record<Ability, Rule>>

/** Lowest membership to which a feature for members is open; guests unless it is named here. */
const featureMembers: Readonly<Record<string, Level>> = { merge_requests: 'reporter' }

/** Whether a feature is there for the caller, as far as its own switch goes. */
export function hasFeature(name: string, caller: Viewer, { features, level }: Facts): boolean {
  const stored = features[name] ?? featureLevels.disabled
  if (stored !== featureLevels.private) return stored > featureLevels.private
  return caller !== null && (caller.admin || level >= levels[featureMembers[name] ?? 'guest'])
}

/** The decision. Pure; every door asks it. */
export function allows(rule: Rule, caller: Viewer, facts: Facts): boolean {
  if (caller?.limits && !facts.withinLimits && !rule.evenLimited) return false
  if (rule.unless?.some((flag) => facts.flags[flag])) return false
  if (rule.feature !== undefined && !hasFeature(rule.feature, caller, facts)) return false
  if (caller !== null) {
    if (caller.admin || (rule.from !== 'administrator' && facts.level >= levels[rule.from])) return true
    if (rule.or?.some((flag) => facts.flags[flag])) return true
  }
  if (rule.open === undefined || rule.openUnless?.some((flag) => facts.flags[flag])) return false
  if (caller === null) return rule.open === 'anyone' && facts.visibility === visibilities.public
  return facts.visibility === visibilities.public || (facts.visibility === visibilities.internal && !caller.external)
}

/** True when nobody known can ever have it, so that asking for credentials comes before anything is looked up. */
export const needsAccount = (rule: Rule): boolean => rule.open !== 'anyone'
