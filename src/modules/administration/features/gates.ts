/** When a feature is on. Each gate enables it for some actors; an absent gate enables it for none. */
export type Gates = {
  readonly boolean?: boolean
  readonly percentage_of_actors?: number
  readonly percentage_of_time?: number
  /** `User:1`, `Group:2`, `Project:3`. */
  readonly actors?: readonly string[]
  /** Names of kinds of users. */
  readonly groups?: readonly string[]
}

export type Percentage = 'percentage_of_actors' | 'percentage_of_time'

/** Actors and groups to switch; both empty means everyone. */
export type Targets = { readonly actors: readonly string[]; readonly groups: readonly string[] }

const isForEverybody = ({ actors, groups }: Targets): boolean => actors.length + groups.length === 0

const joined = (held: readonly string[] = [], more: readonly string[]) => [...new Set([...held, ...more])]
const without = (held: readonly string[] = [], less: readonly string[]) => held.filter((each) => !less.includes(each))

/** Enabling for everyone removes all other gates. */
export const enable = (gates: Gates, targets: Targets): Gates =>
  isForEverybody(targets)
    ? { boolean: true }
    : { ...gates, actors: joined(gates.actors, targets.actors), groups: joined(gates.groups, targets.groups) }

/** Disabling for everyone removes all gates. */
export const disable = (gates: Gates, targets: Targets): Gates =>
  isForEverybody(targets)
    ? {}
    : { ...gates, actors: without(gates.actors, targets.actors), groups: without(gates.groups, targets.groups) }

export const enablePartly = (gates: Gates, key: Percentage, percentage: number): Gates => ({
  ...gates,
  [key]: percentage,
})

/** Whether it is on for all, for none or conditionally. */
export function stateOf(gates: Gates): 'on' | 'off' | 'conditional' {
  if (gates.boolean || gates.percentage_of_actors === 100 || gates.percentage_of_time === 100) return 'on'
  return shownGates(gates).length > 1 ? 'conditional' : 'off'
}

/** Gates that are set, and always the one that says whether it is on for everyone. */
export const shownGates = (gates: Gates): { key: string; value: boolean | number | readonly string[] }[] => [
  { key: 'boolean', value: gates.boolean ?? false },
  ...(['percentage_of_actors', 'percentage_of_time'] as const).flatMap((key) =>
    gates[key] ? [{ key, value: gates[key] }] : [],
  ),
  ...(['actors', 'groups'] as const).flatMap((key) => (gates[key]?.length ? [{ key, value: gates[key] }] : [])),
]
