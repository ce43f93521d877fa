/** Memberships, from none to owner, as the wire and the database number them. */
export const levels = { none: 0, guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const
export type Level = keyof typeof levels
export type LevelNumber = (typeof levels)[Level]

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

/** How open a project or group is, as the database numbers it. */
export const visibilities = { private: 0, internal: 10, public: 20 } as const
export type Visibility = keyof typeof visibilities

const visibilityNames: Readonly<Record<number, Visibility>> = { 0: 'private', 10: 'internal', 20: 'public' }

/** The word for a stored visibility. */
export const visibilityName = (stored: number): Visibility => visibilityNames[stored] ?? 'private'

/** Who may use a feature of a project, as the database numbers it. */
export const featureLevels = { disabled: 0, private: 10, enabled: 20, public: 30 } as const
export type FeatureLevel = keyof typeof featureLevels

const featureLevelNames: Readonly<Record<number, FeatureLevel>> = {
  0: 'disabled',
  10: 'private',
  20: 'enabled',
  30: 'public',
}

export const featureLevelName = (stored: number): FeatureLevel => featureLevelNames[stored] ?? 'disabled'
