import { expect } from 'vitest'
import { wholeReadsWithManyHooks } from '../../../../test/tables/hooks.ts'
import { test } from '../../../../test/world.ts'
import type { Statement, Tx } from '../../../db/db.ts'
import type { AnyEvent } from '../../../events/catalogue.ts'
import { recordHookEvents } from './record-queries.ts'
import { type HookedEvent, ruleOf } from './rules.ts'

/** Whether a hook receives an event, and what records it then. */
async function statementsOf(event: AnyEvent & { kind: HookedEvent }): Promise<Statement[]> {
  const statements: Statement[] = []
  const exists = async (statement: Statement) => statements.push(statement) > 0
  const run = async (statement: Statement) => statements.push(statement)
  await recordHookEvents({ exists, run } as unknown as Tx, [event], ruleOf(event.kind))
  return statements
}

test('an event does not read the hooks of other projects and groups', async ({ world }) => {
  const member = { user_id: 1, access_level: 30 }
  const events = [
    { kind: 'member_added', projectId: 1, actorId: 1, payload: member },
    { kind: 'member_added', groupId: 1, actorId: 1, payload: member },
    { kind: 'user_created', actorId: 1, payload: { user_id: 1, confirmed: true } },
  ] as const
  const statements = await Promise.all(events.map((event) => statementsOf(event as Parameters<typeof statementsOf>[0])))
  for (const tables of await wholeReadsWithManyHooks(world, statements.flat())) expect(tables).not.toContain('hooks')
})
