/** Changed attributes by their API names, with old and new value. */
export type AttributeChanges = Readonly<Record<string, readonly [before: unknown, now: unknown]>>

/** The attributes of these names that differ, compared as JSON. */
export const changesOf = <Name extends string, Facts extends { readonly [K in Name]: unknown }>(
  names: readonly Name[],
  before: Facts,
  now: Facts,
): AttributeChanges =>
  Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]))
      .map((name) => [name, [before[name], now[name]]]),
  )
