import pg from 'pg'
import type { Statement, Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'

/** The tables around hooks in which a row has this text anywhere. */
export async function tablesWithText(world: World, text: string): Promise<string[]> {
  const found: string[] = []
  for (const table of ['hooks', 'hook_events', 'hook_deliveries', 'events', 'audit_events']) {
    const rows = await world.rows(`select from ${table} t where t::text like $1 limit 1`, [`%${text}%`])
    if (rows.length > 0) found.push(table)
  }
  return found
}

/** Number of deliveries of a hook in each state. */
export async function deliveryStates(world: World, hookId: number): Promise<Record<string, number>> {
  const rows = await world.rows(
    'select state, count(*)::integer from hook_deliveries where hook_id = $1 group by state',
    [hookId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Number of recorded events of a project. */
export const recordedEvents = (world: World, projectId: number) =>
  world.rows('select kind, expanded from hook_events where project_id = $1 order by id', [projectId])

/** Makes everything recorded of a project older. */
export const ageEvents = (world: World, projectId: number, days: number) =>
  world.rows('update hook_events set created_at = created_at - make_interval(days => $2) where project_id = $1', [
    projectId,
    days,
  ])

/** Exchanges what two recorded pushes of a project are about, as if their transactions had ended in the other order. */
export const exchangePushes = (world: World, projectId: number) =>
  world.rows(
    `update hook_events e set payload = o.payload from hook_events o
      where e.project_id = $1 and o.project_id = $1 and e.kind = 'pushed' and o.kind = 'pushed' and o.id <> e.id`,
    [projectId],
  )

/** Forgets the first recorded push of a project, as if its transaction had not ended; returns the id of the push. */
export async function unsettleFirstPush(world: World, projectId: number): Promise<number> {
  const [event] = await world.rows(
    `delete from hook_events where id = (select min(id) from hook_events where project_id = $1 and kind = 'pushed')
      returning (payload ->> 'push_id')::bigint as push_id`,
    [projectId],
  )
  await world.rows(`update pushes set state = 'intended' where id = $1`, [event.push_id])
  return event.push_id
}

/** Makes a push older. */
export const agePush = (world: World, pushId: number, age: string) =>
  world.rows('update pushes set created_at = now() - $2::interval where id = $1', [pushId, age])

/** Ends a push of which nothing moved. */
export const dropPush = (world: World, pushId: number) =>
  world.rows(`update pushes set state = 'dropped' where id = $1`, [pushId])

/** Number of hooks and services of a project. */
export const servicesLeft = async (world: World, projectId: number): Promise<number> =>
  (await world.rows('select from hooks where project_id = $1', [projectId])).length

/** Deletes a hook when the transaction ends. */
export const deleteHookRow = (tx: Tx, id: number) => tx.run(sql`delete from hooks where id = ${id}`)

type Plan = { readonly 'Node Type': string; readonly 'Relation Name'?: string; readonly Plans?: readonly Plan[] }

const wholeReads = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name']!] : []),
  ...(plan.Plans ?? []).flatMap(wholeReads),
]

/**
 * The tables that statements read as a whole with the plan that is made for any values, in an installation with 5,000 hooks of other projects
 * and 2,000 of other groups. Changes nothing.
 */
export async function wholeReadsWithManyHooks(world: World, statements: readonly Statement[]): Promise<string[][]> {
  const client = new pg.Client({ connectionString: world.databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    // Without the projects and groups of the hooks.
    await client.query('set local session_replication_role = replica')
    for (const [column, count] of [
      ['project_id', 5000],
      ['namespace_id', 2000],
    ])
      await client.query(`
        insert into hooks (id, ${column}, sealed_url, shown_url, host, enable_ssl_verification, triggers)
        select -n - ${count}, 1000000 + n, '', '', '', true, '{push_events}' from generate_series(1, ${count}) n`)
    await client.query('analyze hooks')
    await client.query('set local plan_cache_mode = force_generic_plan')
    const found: string[][] = []
    for (const { text, values } of statements) {
      await client.query(`prepare one_plan as ${text}`)
      const given = values.map((value) => pg.escapeLiteral(Array.isArray(value) ? `{${value}}` : String(value)))
      const { rows } = await client.query(`explain (format json) execute one_plan (${given.join()})`)
      await client.query('deallocate one_plan')
      found.push(wholeReads(rows[0]['QUERY PLAN'][0].Plan))
    }
    return found
  } finally {
    await client.query('rollback')
    await client.end()
  }
}

/** Deletes a hook when the transaction ends. */
export const deleteHook = (tx: Tx, id: number) => tx.run(sql`delete from hooks where id = ${id}`)
