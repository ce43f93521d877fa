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

/** Every setting with its default. The database stores only changed ones. */
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

/** The declarations, by name. */
export const declared = Object.entries(Settings.properties).sort(([a], [b]) =>
  a < b ? -1 : 1,
) as unknown as readonly (readonly [name: SettingName, schema: SettingSchema])[]

export const defaults = Object.fromEntries(declared.map(([name, schema]) => [name, schema.default])) as Settings

const tiers = new Map(declared.map(([name, { tier }]) => [name as string, tier]))

/** The stored settings that the plan offers; others are neither shown nor effective. */
export const offeredIn = (plan: Plan, stored: Partial<Settings>): Partial<Settings> =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => isOffered(tiers.get(name), plan)))

/** The defaults, overridden by the stored values. */
export const withDefaults = (stored: Partial<Settings>): Settings => Object.freeze({ ...defaults, ...stored })
