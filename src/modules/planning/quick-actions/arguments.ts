/** Maximum users or labels that one quick action names. */
const maxNamed = 100

/** User names after `@`, in lower case; `me` stands for the caller. */
export function namedUsers(argument: string, caller: string): string[] {
  const names = argument
    .split(/[\s,]+/)
    .map((word) => word.replace(/^@/, '').toLowerCase())
    .filter((word) => word !== '' && word !== 'and')
    .map((word) => (word === 'me' ? caller.toLowerCase() : word))
  return [...new Set(names)].slice(0, maxNamed)
}

const label = /~?"([^"]{1,255})"|~?'([^']{1,255})'|~?([^\s,~"']{1,255})/g

/** Label titles: `~bug`, `bug` or `~"two words"`. */
export const namedLabels = (argument: string): string[] =>
  [...new Set([...argument.matchAll(label)].map(([, double, single, bare]) => double ?? single ?? bare!))].slice(
    0,
    maxNamed,
  )

/** The title of a milestone: `%v1`, `v1` or `%"Version 1"`. */
export function namedMilestone(argument: string): string {
  const [, quoted, bare = ''] = /^%?(?:"([^"]*)"|(.*))$/.exec(argument) ?? []
  return (quoted ?? bare).trim()
}
