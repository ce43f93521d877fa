import { expect, test } from 'vitest'
import type { Actor, Caller } from '../../../access/actor.ts'
import { visibleGroups } from '../namespaces/visible-groups-queries.ts'
import { composedForCaller } from './caller-queries.ts'

const actor = (of: Partial<Actor>): Actor => ({ id: 0, admin: false, external: false, ...of }) as Actor

/** Two of each kind: the second one is filled into what was composed for the first one. */
const callers: Record<string, [Caller, Caller]> = {
  'anonymous callers': [null, null],
  users: [actor({ id: 1 }), actor({ id: 2 })],
  'external users': [actor({ id: 3, external: true }), actor({ id: 4, external: true })],
  administrators: [actor({ id: 5, admin: true }), actor({ id: 6, admin: true })],
  'limited tokens': [
    actor({ id: 1, limits: { projects: [], groups: [11] } }),
    actor({ id: 1, limits: { projects: [], groups: [12] } }),
  ],
}

const asBuilt = ({ text, values }: { readonly text: string; readonly values: readonly unknown[] }) => ({ text, values })

test('a composed statement is that of its own caller, in any order of callers', () => {
  for (const kinds of [Object.entries(callers), Object.entries(callers).toReversed()]) {
    const composed = composedForCaller(visibleGroups)
    for (const [kind, pair] of kinds)
      for (const caller of pair) expect(asBuilt(composed(caller)), kind).toEqual(asBuilt(visibleGroups(caller)))
  }
})
