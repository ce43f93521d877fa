import type { Static, TObject } from 'typebox'
import { isOffered, type Plan, type Tier } from '../kernel/plan.ts'
import type { Ctx } from './ctx.ts'
import { withKeywords } from './schema.ts'

/** The wire format of one kind of record. */
export type Entity<Row, S extends TObject = TObject, Extra = any> = {
  /** The name in the OpenAPI document. */
  readonly name: string
  /** A property with `tier` is shown on that plan and higher ones. */
  readonly schema: S
  /** Status of responses with this record, instead of that of the endpoint. */
  readonly status?: number
  /** Fetches what every row of the page needs, in a fixed number of queries. */
  readonly gather?: (rows: readonly Row[], ctx: Ctx) => Promise<Extra>
  /** Pure. The return type is checked against `schema`. */
  readonly present: (row: Row, ctx: Ctx, extra: Extra) => Static<S>
}

/** Declares an entity. Other records carry `schema` as a reference to the record of this name in the documentation. */
export const entity = <Row, S extends TObject, Extra = undefined>(e: Entity<Row, S, Extra>): Entity<Row, S, Extra> => ({
  ...e,
  schema: withKeywords(e.schema, { title: e.name }),
})

type Named = { readonly schema: TObject }

const hiddenFields = new WeakMap<Named, Map<Plan, readonly string[]>>()

/** Names of the fields that `plan` does not offer. */
function hidden(e: Named, plan: Plan): readonly string[] {
  let byPlan = hiddenFields.get(e)
  if (!byPlan) hiddenFields.set(e, (byPlan = new Map()))
  let names = byPlan.get(plan)
  if (!names) {
    names = Object.entries(e.schema.properties)
      .filter(([, property]) => !isOffered((property as { tier?: Tier }).tier, plan))
      .map(([name]) => name)
    byPlan.set(plan, names)
  }
  return names
}

/** The records of a page, in the order of its rows. */
export async function presentAll<Row, S extends TObject>(
  e: Entity<Row, S>,
  rows: readonly Row[],
  ctx: Ctx,
): Promise<Static<S>[]> {
  const extra = e.gather && rows.length > 0 ? await e.gather(rows, ctx) : undefined
  return rows.map((row) => withoutHiddenFields(e, ctx.plan, e.present(row, ctx, extra)))
}

/** Deletes the fields that `plan` does not offer from the record, and returns it. */
export function withoutHiddenFields<R extends object>(e: Named, plan: Plan, record: R): R {
  for (const name of hidden(e, plan)) delete (record as Record<string, unknown>)[name]
  return record
}
