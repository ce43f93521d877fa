/** The latest time by which git limits a history, in seconds since 1970: January 2038. Commits may be later. */
export const latestLimit = 2 ** 31 - 1

type Period = { readonly since?: Date; readonly until?: Date }

const seconds = (date: Date) => date.getTime() / 1000

/** The period within the range of git; `undefined` if it is empty. */
export function period({ since, until }: Period): Period | undefined {
  if (since && seconds(since) > latestLimit) return undefined
  if (until && seconds(until) < 0) return undefined
  return {
    ...(since && seconds(since) > 0 && { since }),
    ...(until && seconds(until) < latestLimit && { until }),
  }
}

/** Flags that limit a traversal to a period. In seconds since 1970, because git's own date parser guesses. */
export const flagsOfPeriod = ({ since, until }: Period): `-${string}`[] => [
  ...(since ? ([`--max-age=${Math.ceil(seconds(since))}`] as const) : []),
  ...(until ? ([`--min-age=${Math.floor(seconds(until))}`] as const) : []),
]
