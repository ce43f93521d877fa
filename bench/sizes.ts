/** Sizes of the seeded data. All sizes have the same proportions. */
export type Size = Readonly<{ users: number; projects: number; groups: number; mergeRequests: number; issues: number }>

export const sizes = {
  S: { users: 200, projects: 1_000, groups: 100, mergeRequests: 2_000, issues: 10_000 },
  M: { users: 2_000, projects: 10_000, groups: 1_000, mergeRequests: 20_000, issues: 100_000 },
  L: { users: 10_000, projects: 100_000, groups: 5_000, mergeRequests: 100_000, issues: 1_000_000 },
} as const satisfies Record<string, Size>

export type SizeName = keyof typeof sizes
export const isSizeName = (text: string): text is SizeName => text in sizes
