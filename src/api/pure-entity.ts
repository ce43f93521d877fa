import type { Static, TObject } from 'typebox'
import type { Ctx } from './ctx.ts'
import { type Entity, entity, withoutHiddenFields } from './entity.ts'
import { keyOfInputs, numberOf, type Plain } from './inputs.ts'
import { RecordText } from './record-texts.ts'
import { keyedViewOf, type RecordView } from './record-view.ts'

/**
 * An entity whose records depend on their inputs and the view alone, so that their texts are cached under a key of both. An input
 * that the key cannot contain, like a function or a map, does not compile.
 */
export type PureEntity<Row, Inputs extends Plain, S extends TObject = TObject> = {
  readonly name: string
  readonly schema: S
  /** Everything that the records of these rows show, in their order. Fetches in a fixed number of queries. */
  readonly inputs: (rows: readonly Row[], ctx: Ctx) => readonly Inputs[] | Promise<readonly Inputs[]>
  /** Pure: reads nothing else, and no clock. */
  readonly present: (inputs: Inputs, view: RecordView) => Static<S>
}

/** The same as an entity for `presentAll`, which does not cache. */
export type CachedEntity<Row, S extends TObject = TObject> = Entity<Row, S, ReadonlyMap<Row, Plain>> & {
  readonly pure: PureEntity<Row, any, S>
}

export const pureEntity = <Row, Inputs extends Plain, S extends TObject>(
  pure: PureEntity<Row, Inputs, S>,
): CachedEntity<Row, S> => ({
  ...entity<Row, S, ReadonlyMap<Row, Plain>>({
    name: pure.name,
    schema: pure.schema,
    async gather(rows, ctx) {
      const inputs = await pure.inputs(rows, ctx)
      return new Map(rows.map((row, index) => [row, inputs[index]]))
    },
    present: (row, ctx, inputs) => pure.present(inputs.get(row) as Inputs, ctx),
  }),
  pure,
})

export const isCachedEntity = (e: object): e is CachedEntity<any> => 'pure' in e

/** The texts of rows, in their order. Only records whose inputs or view are new are presented. */
export async function textsOfRows<Row>(
  { pure }: CachedEntity<Row>,
  rows: readonly Row[],
  ctx: Ctx,
): Promise<RecordText[]> {
  const { view, key: viewKey } = keyedViewOf(ctx)
  return (await pure.inputs(rows, ctx)).map((inputs) => {
    const make = () => RecordText.of(withoutHiddenFields(pure, view.plan, pure.present(inputs, view)))
    const key = keyOfInputs(inputs)
    if (key === undefined) return make()
    const name = `${numberOf(pure)} ${viewKey} ${key}`
    const known = ctx.inputTexts.get(name)
    if (known) return known
    const text = make()
    ctx.inputTexts.set(name, text)
    return text
  })
}
