import { type DocumentNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql'

/** Maximum tokens of a query, which limits the work of parsing and validating it. */
export const maxTokens = 1000
const maxDepth = 15
/** A query for the whole schema has some 300. */
const maxFields = 500
/** Each alias may load a record again. */
const maxAliases = 20

type Cost = { readonly fields: number; readonly aliases: number; readonly depth: number }

const none: Cost = { fields: 0, aliases: 0, depth: 0 }

/** The error of a valid document that asks for too much. Fragments count wherever they are used; they contain no cycles. */
export function excessOf(document: DocumentNode): GraphQLError | undefined {
  const fragments = new Map(
    document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])),
  )
  const known = new Map<string, Cost>()
  const costOf = (set: SelectionSetNode | undefined): Cost =>
    (set?.selections ?? []).map(selectionCost).reduce(
      (sum, each) => ({
        fields: sum.fields + each.fields,
        aliases: sum.aliases + each.aliases,
        depth: Math.max(sum.depth, each.depth),
      }),
      none,
    )
  const selectionCost = (selection: SelectionSetNode['selections'][number]): Cost => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return fragmentCost(selection.name.value)
    const inner = costOf(selection.selectionSet)
    if (selection.kind === Kind.INLINE_FRAGMENT) return inner
    return {
      fields: inner.fields + 1,
      aliases: inner.aliases + (selection.alias ? 1 : 0),
      depth: inner.depth + 1,
    }
  }
  const fragmentCost = (name: string): Cost => {
    const cost = known.get(name) ?? costOf(fragments.get(name)?.selectionSet)
    known.set(name, cost)
    return cost
  }
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const { fields, aliases, depth } = costOf(definition.selectionSet)
    if (depth > maxDepth) return new GraphQLError(`Query has depth of ${depth}, which exceeds max depth of ${maxDepth}`)
    if (fields > maxFields)
      return new GraphQLError(`Query has ${fields} fields, which exceeds the maximum of ${maxFields}`)
    if (aliases > maxAliases)
      return new GraphQLError(`Query has ${aliases} aliases, which exceeds the maximum of ${maxAliases}`)
  }
  return undefined
}
