/** Access levels of members, numbered as on the wire and in the database. */
export const levels = { none: 0, guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const
export type Level = keyof typeof levels

/** Levels of members, which the API offers wherever it does not say otherwise. */
export const memberLevels = [10, 20, 30, 40, 50] as const
/** Levels of members of projects: only groups have owners. */
export const projectMemberLevels = [10, 20, 30, 40] as const

export const levelNames: Readonly<Record<number, string>> = {
  10: 'Guest',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
}

/** The word for an access level in documentation; 0 and 60 exist where a ref is protected. */
export const accessLevelName = (level: number): string =>
  level === 0 ? 'no access' : level === 60 ? 'administrator' : (levelNames[level] ?? String(level)).toLowerCase()

/** Visibility of a project or group, numbered as in the database. */
export const visibilities = { private: 0, internal: 10, public: 20 } as const
export type Visibility = keyof typeof visibilities

const visibilityNames: Readonly<Record<number, Visibility>> = { 0: 'private', 10: 'internal', 20: 'public' }

/** Name of a stored visibility. */
export const visibilityName = (stored: number): Visibility => visibilityNames[stored] ?? 'private'

/** The visibility, lowered to what a group or namespace allows. */
export const atMost = (visibility: Visibility, allowed: number): Visibility =>
  visibilities[visibility] > allowed ? visibilityName(allowed) : visibility

/** Access level of a project feature, numbered as in the database. */
export const featureLevels = { disabled: 0, private: 10, enabled: 20, public: 30 } as const
export type FeatureLevel = keyof typeof featureLevels

const featureLevelNames: Readonly<Record<number, FeatureLevel>> = {
  0: 'disabled',
  10: 'private',
  20: 'enabled',
  30: 'public',
}

export const featureLevelName = (stored: number): FeatureLevel => featureLevelNames[stored] ?? 'disabled'
