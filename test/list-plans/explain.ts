import pg from 'pg'
import { expect } from 'vitest'
import type { Statement } from '../../src/db/db.ts'
import { type Plan, readsOf } from './plan.ts'
import { client } from './seeded.ts'

/** The plan for the values of a statement, with what it read. */
export async function planOf({ text, values }: Statement, options = 'analyze, timing off'): Promise<Plan> {
  const { rows } = await client.query(`explain (${options}, format json) ${text}`, [...values])
  return rows[0]['QUERY PLAN'][0].Plan
}

/** The same with the pages that it read. */
export const planWithPages = (statement: Statement): Promise<Plan> => planOf(statement, 'analyze, buffers, timing off')

/** The plan that PostgreSQL would choose; the statement does not run. */
export const plannedOnly = (statement: Statement): Promise<Plan> => planOf(statement, 'costs on')

/** What a statement reads with a plan for its values. */
export const readsForValues = async (statement: Statement): Promise<number> => readsOf(await planOf(statement))

/** What a statement reads with the plan that is made for any values, with which the service has it read. */
export async function readsOfOnePlan(statement: Statement): Promise<number> {
  expect(statement.onePlan).toBeDefined()
  return readsOf(await onePlanOf(statement))
}

/** The plan that is made for any values, with what it read. */
export async function onePlanOf({ text, values }: Statement): Promise<Plan> {
  await client.query('set plan_cache_mode = force_generic_plan')
  await client.query(`prepare one_plan as ${text}`)
  const given = values.map((value) => pg.escapeLiteral(asText(value))).join()
  const { rows } = await client.query(`explain (analyze, timing off, format json) execute one_plan (${given})`)
  await client.query('deallocate one_plan')
  await client.query('reset plan_cache_mode')
  return rows[0]['QUERY PLAN'][0].Plan
}

const asText = (value: unknown): string =>
  Array.isArray(value) ? `{${value}}` : value instanceof Date ? value.toISOString() : String(value)

/** What a statement reads with the plan that the service has it read with. */
export const readsOfStatement = (statement: Statement): Promise<number> =>
  statement.onePlan ? readsOfOnePlan(statement) : readsForValues(statement)
