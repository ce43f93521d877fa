import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Ctx } from './ctx.ts'
import { withoutHiddenFields } from './entity.ts'
import { RecordText } from './record-texts.ts'
import { type CacheableEntity, keyedViewOf, type RecordView } from './record-view.ts'

/**
 * An entity whose records are cached as text. Lists yield stamps: small rows that say which version of which record is
 * meant and how the caller stands to it. Only records without a text are loaded and presented.
 */
export type CachedRecords<Stamp, Row extends Stamp> = {
  readonly entity: CacheableEntity<Row>
  /** Names the version of the row. Rows with the same stamp are equal; the view is added to the key by `textsOf`. */
  readonly stamp: (stamp: Stamp) => string
  /** Adds to stamps what `stamp` needs and lists do not query for every row. At most one statement. */
  readonly complete?: (stamps: readonly Stamp[], ctx: Ctx) => Promise<readonly Stamp[]>
  /** The whole rows with their current stamps; deleted ones are missing. */
  readonly load: (ids: readonly number[], ctx: Ctx) => Promise<readonly Row[]>
}

export const cachedRecords = <Stamp extends { readonly id: number }, Row extends Stamp>(
  k: CachedRecords<Stamp, Row>,
): CachedRecords<Stamp, Row> => k

/** The text of a row as `view` sees it: what is presented can depend on nothing else. */
const textFor = <Row>(entity: CacheableEntity<Row>, row: Row, view: RecordView): RecordText =>
  RecordText.of(withoutHiddenFields(entity, view.plan, entity.present(row, view)))

/** Bytes of texts after which other requests have a turn: a page of a hundred records may have a hundred megabytes. */
const bytesAtOnce = 2 * 1024 * 1024

/** The texts of a page, in its order. No statement, besides that of `complete`, if all are cached; otherwise one. */
export async function textsOf<Stamp extends { readonly id: number }, Row extends Stamp>(
  { entity, stamp: stampOf, complete, load }: CachedRecords<Stamp, Row>,
  listed: readonly Stamp[],
  ctx: Ctx,
): Promise<RecordText[]> {
  const stamps = complete ? await complete(listed, ctx) : listed
  const { view, key: viewKey } = keyedViewOf(ctx)
  const keyOf = (stamp: Stamp) => `${entity.name} ${stamp.id} ${viewKey} ${stampOf(stamp)}`
  const texts = stamps.map((stamp) => ctx.texts.get(keyOf(stamp)))
  const unknown = stamps.filter((_, index) => texts[index] === undefined).map(({ id }) => id)
  if (unknown.length === 0) return texts as RecordText[]
  const loaded = new Map<number, RecordText>()
  let bytes = 0
  for (const row of await load(unknown, ctx)) {
    const text = textFor(entity, row, view)
    // Under the key of the loaded row, which may be newer than the listed stamp.
    ctx.texts.set(keyOf(row), text)
    loaded.set(row.id, text)
    bytes += text.bytes.length
    if (bytes > bytesAtOnce) {
      bytes = 0
      await nextTurn()
    }
  }
  return stamps.flatMap(({ id }, index) => texts[index] ?? loaded.get(id) ?? [])
}

/** The cached text of one record, or that of `row`. `key` names everything that the row holds; the view is added here. */
export async function textOf<Row>(
  ctx: Ctx,
  entity: CacheableEntity<Row>,
  key: string,
  row: () => Promise<Row>,
): Promise<RecordText> {
  const { view, key: viewKey } = keyedViewOf(ctx)
  const name = `${entity.name} ${viewKey} ${key}`
  const known = ctx.texts.get(name)
  if (known) return known
  const text = textFor(entity, await row(), view)
  ctx.texts.set(name, text)
  return text
}
