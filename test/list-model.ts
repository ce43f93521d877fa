import { expect } from 'vitest'
import type { Random } from '../bench/varied/random.ts'
import type { Answer, Client } from './world.ts'

/* Records in memory, and what a list of the API must have for any filters of theirs together. */

/** A filter as parameters, and the same in memory. `R` is a record, `C` a caller. */
export type ModelFilter<R, C> = {
  /** Filters with the same name are not combined. */
  readonly name: string
  readonly query: readonly (readonly [name: string, value: string | number])[]
  readonly matches: (record: R, caller: C) => boolean
}

/** Filters that match the same, with one name: a parameter with one value, or with several ones. */
export const filterBy = <R, C>(
  name: string,
  value: string | number | readonly (string | number)[],
  matches: ModelFilter<R, C>['matches'],
): ModelFilter<R, C> => ({
  name,
  query: Array.isArray(value) ? value.map((each) => [`${name}[]`, each]) : [[name, value as string | number]],
  matches,
})

/** The same filter within `not`. */
export const negated = <R, C>({ name, query, matches }: ModelFilter<R, C>): ModelFilter<R, C> => ({
  name: `not ${name}`,
  query: query.map(([key, value]) => [key.endsWith('[]') ? `not[${key.slice(0, -2)}][]` : `not[${key}]`, value]),
  matches: (record, caller) => !matches(record, caller),
})

/** Each pair of names once, with a random filter of each. */
export function pairsOf<F extends { readonly name: string }>(filters: readonly F[], random: Random): F[][] {
  const names = [...new Set(filters.map(({ name }) => name))]
  const oneOf = (name: string) => random.pick(filters.filter((filter) => filter.name === name))
  return names.flatMap((one, index) => names.slice(index + 1).map((other) => [oneOf(one), oneOf(other)]))
}

/** As many random filters of different names. */
export function severalOf<F extends { readonly name: string }>(
  filters: readonly F[],
  random: Random,
  number: number,
): F[] {
  const chosen: F[] = []
  for (let n = 0; n < number; n++)
    chosen.push(random.pick(filters.filter(({ name }) => chosen.every((each) => each.name !== name))))
  return chosen
}

/** The parameters of filters and further ones, as a query string. */
export const queryOf = (
  chosen: readonly ModelFilter<any, any>[],
  more: Readonly<Record<string, string | number | boolean>> = {},
): string =>
  String(
    new URLSearchParams(
      [...chosen.flatMap(({ query }) => query), ...Object.entries(more)].map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
    ),
  )

type Numbered = { readonly id: number }

export const idsOf = (records: readonly Numbered[]): number[] => records.map(({ id }) => id)

/** Expects the first page of `perPage` of these records, in this order, and their number. */
export function expectListed({ json, headers }: Answer, records: readonly Numbered[], what: string, perPage = 100) {
  expect.soft(idsOf(json), what).toEqual(idsOf(records).slice(0, perPage))
  expect.soft(Number(headers['x-total']), what).toBe(records.length)
}

/** The ids of all pages of a list, one after the other. */
export async function idsOfPages(caller: Client, path: string, perPage = 33): Promise<number[]> {
  const listed: number[] = []
  for (let page = 1; listed.length === (page - 1) * perPage; page += 1)
    listed.push(...idsOf((await caller.get(`${path}&per_page=${perPage}&page=${page}`)).json))
  return listed
}

type Key = string | number | null | undefined

/** Sorts by keys, then by the newest; missing keys come last in both directions. */
export function sortedBy<R extends Numbered>(
  records: readonly R[],
  keys: (record: R) => readonly Key[],
  sort: string,
): R[] {
  const direction = sort === 'desc' ? -1 : 1
  return [...records].sort((a, b) => {
    const [left, right] = [keys(a), keys(b)]
    for (const [index, one] of left.entries()) {
      const other = right[index]
      if (one === other || (one ?? undefined) === (other ?? undefined)) continue
      if (one === null || one === undefined) return 1
      if (other === null || other === undefined) return -1
      return (one < other ? -1 : 1) * direction
    }
    return b.id - a.id
  })
}

const day = 86_400_000

/** A day from today, in UTC. */
export const dayFromNow = (days: number): string => new Date(Date.now() + days * day).toISOString().slice(0, 10)
