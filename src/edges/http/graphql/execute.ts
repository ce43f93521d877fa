import {
  type DocumentNode,
  execute,
  type FormattedExecutionResult,
  GraphQLError,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import type { Ctx } from '../../../api/ctx.ts'
import { excessOf, maxTokens } from './limits.ts'
import { queryFor } from './query.ts'
import { schema } from './schema.ts'

export type GraphqlRequest = {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>> | undefined
}

/** Errors are reported up to this number. */
const maxErrors = 10

const refused = (errors: readonly GraphQLError[]): FormattedExecutionResult => ({
  errors: errors.map((error) => error.toJSON()),
})

/** Runs a query. Errors of the query are part of the result; rejects with failures of the service. */
export async function runQuery(ctx: Ctx, request: GraphqlRequest): Promise<FormattedExecutionResult> {
  let document: DocumentNode
  try {
    document = parse(request.query, { maxTokens })
  } catch (error) {
    if (error instanceof GraphQLError) return refused([error])
    throw error
  }
  const invalid = validate(schema, document, specifiedRules, { maxErrors })
  if (invalid.length > 0) return refused(invalid)
  const excess = excessOf(document)
  if (excess) return refused([excess])
  const { data, errors } = await execute({
    schema,
    document,
    rootValue: queryFor(ctx),
    operationName: request.operationName,
    variableValues: request.variables,
  })
  const fault = errors?.find(({ originalError }) => originalError && !(originalError instanceof GraphQLError))
  if (fault) throw fault.originalError
  return { ...(errors && { errors: errors.map((error) => error.toJSON()) }), ...(data !== undefined && { data }) }
}
