/**
 * Sizes of the seeded data, in the same proportions, except that XL has only twice the issues of L: ten times as many need 70 GB.
 * Ids of groups follow those of 99,900 users (`world.ts`).
 */
export type Size = Readonly<{ users: number; projects: number; groups: number; mergeRequests: number; issues: number }>

export const sizes = {
  S: { users: 200, projects: 1_000, groups: 100, mergeRequests: 2_000, issues: 10_000 },
  M: { users: 2_000, projects: 10_000, groups: 1_000, mergeRequests: 20_000, issues: 100_000 },
  L: { users: 10_000, projects: 100_000, groups: 5_000, mergeRequests: 100_000, issues: 1_000_000 },
  XL: { users: 99_900, projects: 1_000_000, groups: 50_000, mergeRequests: 500_000, issues: 2_000_000 },
} as const satisfies Record<string, Size>

export type SizeName = keyof typeof sizes
export const isSizeName = (text: string): text is SizeName => text in sizes
