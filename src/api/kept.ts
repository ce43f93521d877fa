import type { Ctx } from './ctx.ts'
import { type Entity, presentAll } from './entity.ts'
import { RecordText } from './record-texts.ts'

/**
 * An entity whose records are kept as text. Lists yield stamps: small rows that say which version of which record is meant
 * and how the caller stands to it. Only records not yet known in that form are loaded and presented.
 */
export type Kept<Stamp, Row extends Stamp> = {
  readonly entity: Entity<Row>
  /** Two rows with the same key look the same. Everything that `present` looks at follows from it. */
  readonly key: (stamp: Stamp, ctx: Ctx) => string
  /** The whole rows, with the stamps of this very moment; those that have gone meanwhile are missing. */
  readonly load: (ids: readonly number[], ctx: Ctx) => Promise<readonly Row[]>
}

export const kept = <Stamp extends { readonly id: number }, Row extends Stamp>(k: Kept<Stamp, Row>): Kept<Stamp, Row> =>
  k

/** The texts of a page, in its order. No statement when all are known, else one. */
export async function textsOf<Stamp extends { readonly id: number }, Row extends Stamp>(
  { entity, key, load }: Kept<Stamp, Row>,
  stamps: readonly Stamp[],
  ctx: Ctx,
): Promise<RecordText[]> {
  const keyOf = (stamp: Stamp) => `${entity.name} ${stamp.id} ${key(stamp, ctx)}`
  const texts = stamps.map((stamp) => ctx.texts.get(keyOf(stamp)))
  const unknown = stamps.filter((_, index) => texts[index] === undefined).map(({ id }) => id)
  if (unknown.length === 0) return texts as RecordText[]
  const rows = await load(unknown, ctx)
  const records = await presentAll(entity, rows, ctx)
  const loaded = new Map<number, RecordText>()
  for (const [index, row] of rows.entries()) {
    const text = RecordText.of(records[index]!)
    // Under the key of what was loaded: it may be newer than the stamp that asked for it.
    ctx.texts.set(keyOf(row), text)
    loaded.set(row.id, text)
  }
  return stamps.flatMap(({ id }, index) => texts[index] ?? loaded.get(id) ?? [])
}

/** The text of one record, made of the row unless it is known. `key` names everything that the record shows. */
export async function textOf<Row>(
  ctx: Ctx,
  entity: Entity<Row>,
  key: string,
  row: () => Promise<Row>,
): Promise<RecordText> {
  const name = `${entity.name} ${key}`
  const known = ctx.texts.get(name)
  if (known) return known
  const [record] = await presentAll(entity, [await row()], ctx)
  const text = RecordText.of(record!)
  ctx.texts.set(name, text)
  return text
}
