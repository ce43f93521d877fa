import { type Static, Type } from 'typebox'
import { accounts } from './declared/accounts.ts'
import { creation } from './declared/creation.ts'
import { git } from './declared/git.ts'
import { housekeeping } from './declared/housekeeping.ts'
import { outbound } from './declared/outbound.ts'
import { throttles } from './declared/throttles.ts'

/** Every setting of the installation with its default. Stored are only those that somebody changed. */
export const Settings = Type.Object({
  ...creation,
  ...accounts,
  ...git,
  ...housekeeping,
  ...outbound,
  ...throttles,
})
export type Settings = Static<typeof Settings>

const defaults = Object.fromEntries(
  Object.entries(Settings.properties).map(([name, schema]) => [
    name,
    (schema as unknown as { default: unknown }).default,
  ]),
) as Settings

/** The stored values over the defaults. */
export const withDefaults = (stored: Partial<Settings>): Settings => Object.freeze({ ...defaults, ...stored })
