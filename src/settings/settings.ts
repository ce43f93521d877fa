import { type Static, Type } from 'typebox'
import { isOffered, type Plan } from '../kernel/plan.ts'
import { accounts } from './declared/accounts.ts'
import { creation } from './declared/creation.ts'
import { display } from './declared/display.ts'
import { git } from './declared/git.ts'
import { housekeeping } from './declared/housekeeping.ts'
import { integrations } from './declared/integrations.ts'
import { outbound } from './declared/outbound.ts'
import type { SettingSchema } from './declared/schema.ts'
import { sizes } from './declared/sizes.ts'
import { throttles } from './declared/throttles.ts'

/**
 * Settings by topic, in the order of docs/settings.md.
 *
 * @public tools/settings-text.ts reads it.
 */
export const topics = { creation, accounts, git, housekeeping, outbound, sizes, throttles, display, integrations }

/** Every setting of the installation with its default. Stored are only those that somebody changed. */
export const Settings = Type.Object({
  ...creation,
  ...accounts,
  ...git,
  ...housekeeping,
  ...outbound,
  ...sizes,
  ...throttles,
  ...display,
  ...integrations,
})
export type Settings = Static<typeof Settings>
export type SettingName = keyof Settings & string

/** What each says of itself, in the order of names. */
export const declared = Object.entries(Settings.properties).sort(([a], [b]) =>
  a < b ? -1 : 1,
) as unknown as readonly (readonly [name: SettingName, schema: SettingSchema])[]

export const defaults = Object.fromEntries(declared.map(([name, schema]) => [name, schema.default])) as Settings

const tiers = new Map(declared.map(([name, { tier }]) => [name as string, tier]))

/** What a plan offers of them: what was set under a larger one neither shows nor acts. */
export const offeredIn = (plan: Plan, stored: Partial<Settings>): Partial<Settings> =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => isOffered(tiers.get(name), plan)))

/** The stored values over the defaults. */
export const withDefaults = (stored: Partial<Settings>): Settings => Object.freeze({ ...defaults, ...stored })
