import { expect } from 'vitest'
import { actorFor } from '../../../../test/contexts.ts'
import { addEpics, isReadable, isReader } from '../../../../test/tables/epics.ts'
import { type Client, test } from '../../../../test/world.ts'
import type { Caller } from '../../../access/actor.ts'
import { epicPolicy } from '../../../access/epic-policy.ts'
import type { Level } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { findGroup } from '../../groups/groups/queries.ts'
import { groupFacts } from '../../groups/groups/subject.ts'
import { findEpicById } from './queries.ts'
import { epicFacts } from './subject.ts'

const kinds = ['stranger', 'external', 'guest', 'reporter', 'of a project', 'above', 'author', 'root'] as const
type Kind = (typeof kinds)[number]

test.for(['private', 'internal', 'public'] as const)(
  'policy and SQL agree about epics of a %s group, confidential or not',
  async (visibility, { world }) => {
    const made = await Promise.all(
      kinds.map(async (kind) => [
        kind,
        kind === 'root' ? world.root : await world.user({ external: kind === 'external' }),
      ]),
    )
    const people = new Map(made as [Kind, Client][])
    const member = (kind: Kind, level: Level): [Client, Level] => [people.get(kind)!, level]
    const top = await world.group({ visibility, members: [member('above', 'developer')] })
    const group = await world.group({
      visibility,
      parent: top,
      members: [member('guest', 'guest'), member('reporter', 'reporter'), member('author', 'guest')],
    })
    await world.project({ visibility: 'private', group, members: [member('of a project', 'developer')] })
    const author_id = people.get('author')!.id
    const now = new Date().toISOString()
    const common = { namespace_id: group.id, title: 'x', description: '', author_id, state: 'opened' } as const
    const ids = await addEpics(
      world,
      [false, true].map((confidential, index) => ({
        ...common,
        iid: index + 1,
        confidential,
        created_at: now,
        updated_at: now,
      })),
    )
    const callers = await Promise.all(
      kinds.map(async (kind): Promise<[string, Caller]> => [kind, await actorFor(world, people.get(kind)!)]),
    )
    const limited = callers.flatMap(([kind, caller]): [string, Caller][] =>
      caller && !caller.admin
        ? [
            [`${kind}, limited to the group`, { ...caller, limits: { projects: [], groups: [group.id] } }],
            [`${kind}, limited to another group`, { ...caller, limits: { projects: [], groups: [0] } }],
          ]
        : [],
    )
    for (const [who, caller] of [['anonymous', null] as [string, Caller], ...callers, ...limited]) {
      const place = (await findGroup(world.db, caller, group.id))!
      for (const [index, id] of ids.entries()) {
        const what = `${who}, ${index === 0 ? 'open' : 'confidential'}`
        const row = (await findEpicById(world.db, caller, id))!
        const facts = epicFacts(row, { ...place, facts: groupFacts(place) })
        const may = allows(epicPolicy.read_epic, caller, facts)
        expect(await isReadable(world, caller, id), what).toBe(may)
        if (caller === null || caller.limits) continue
        expect(await isReader(world, caller.id, id), what).toBe(may)
      }
    }
  },
)
