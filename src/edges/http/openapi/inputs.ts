import type { Endpoint } from '../../../api/endpoint.ts'
import { alternatives, isNullSchema, isOptional, type ParamSchema } from '../../../api/params/schema.ts'
import { isOffered, type Plan } from '../../../kernel/plan.ts'
import { allParams } from '../declared.ts'
import type { Components } from './components.ts'
import { type JsonSchema, jsonSchema } from './json-schema.ts'
import { operationIdOf } from './operation-id.ts'

/** Parameters and body of one operation. */
export type Inputs = {
  readonly parameters: object[]
  /** Absent for GET and DELETE and without parameters. */
  readonly requestBody?: object
}

type Named = readonly [name: string, schema: ParamSchema]

const inPath = /:(\w+)/g

/** `/projects/:id/archive.:format` → `/projects/{id}/archive.{format}` */
export const templateOf = (path: string): string => path.replace(inPath, '{$1}')

/**
 * The parameters of an endpoint as the document shows them: in the path, then in the query for GET and DELETE, else in
 * the body. The service accepts those of the body in the query as well; the introduction of the document says so once.
 */
export function inputsOf(e: Endpoint, plan: Plan, components: Components): Inputs {
  const declared = allParams(e)
  const properties = Object.entries(declared.properties as Record<string, ParamSchema>).filter(([, { tier }]) =>
    isOffered(tier, plan),
  )
  const names = new Set([...e.path.matchAll(inPath)].map((match) => match[1]!))
  const parameters = properties.filter(([name]) => names.has(name)).map((each) => pathParameter(each, plan))
  parameters.push({ $ref: '#/components/parameters/sudo' })
  if (e.method !== 'GET') parameters.push({ $ref: '#/components/parameters/idempotencyKey' })
  const others = properties.filter(([name]) => !names.has(name))
  if (e.method === 'GET' || e.method === 'DELETE')
    return { parameters: [...parameters, ...others.map((each) => queryParameter(each, plan))] }
  if (others.length === 0) return { parameters }
  return { parameters, requestBody: requestBody(e, others, plan, components) }
}

/** Parameters of every operation. */
export const parameterComponents = {
  sudo: {
    name: 'sudo',
    in: 'query',
    description: 'ID or username of the user to act as; for administrators, with a token of the scope `sudo`',
    schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A text that the client chooses for this request, such as a UUID. A repeat with the same key within a day gets the first answer, and takes no effect',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
}

const isRequired = (schema: ParamSchema): boolean => !isOptional(schema) && schema.default === undefined

/** The schema, separated from the keywords that belong to the parameter. */
function bare(schema: ParamSchema, plan: Plan): { schema: JsonSchema; about: JsonSchema } {
  const { description, deprecated, 'x-tier': tier, examples, ...rest } = jsonSchema(schema, plan, false)
  return {
    schema: { ...rest, ...(Array.isArray(examples) && { examples }) },
    about: {
      ...(description !== undefined && { description }),
      ...(deprecated !== undefined && { deprecated }),
      ...(tier !== undefined && { 'x-tier': tier }),
    },
  }
}

function pathParameter([name, declared]: Named, plan: Plan): object {
  const { schema, about } = bare(declared, plan)
  const { default: _, ...rest } = schema
  return { name, in: 'path', required: true, ...about, schema: rest }
}

function queryParameter([name, declared]: Named, plan: Plan): object {
  const { schema, about } = bare(declared, plan)
  const core = alternatives(declared).filter((each) => !isNullSchema(each))
  const required = isRequired(declared) && { required: true }
  if (core.some((each) => each.split === 'comma'))
    return { name, in: 'query', ...required, ...about, style: 'form', explode: false, schema }
  if (core.length === 1 && core[0]!.type === 'array')
    return { name: `${name}[]`, in: 'query', ...required, ...about, schema }
  if (core.some((each) => each.type === 'object'))
    return { name, in: 'query', ...required, ...about, style: 'deepObject', explode: true, schema }
  return { name, in: 'query', ...required, ...about, schema }
}

const isFile = (schema: ParamSchema): boolean => alternatives(schema).some(({ format }) => format === 'binary')

/**
 * The body, with one named schema for all media types. A form with files has a schema of its own, which adds the files to
 * that of the other media types.
 */
function requestBody(e: Endpoint, fields: readonly Named[], plan: Plan, components: Components): object {
  const name = operationIdOf(e).replace(/^./, (first) => first.toUpperCase())
  const replaceable = new Set((e.params as ParamSchema | undefined)?.requiredUnless?.map(({ name }) => name))
  const schemaOf = (some: readonly Named[]): JsonSchema => {
    const required = some.filter(([each, schema]) => isRequired(schema) || replaceable.has(each)).map(([each]) => each)
    return {
      type: 'object',
      properties: Object.fromEntries(some.map(([each, schema]) => [each, jsonSchema(schema, plan, false)])),
      ...(required.length > 0 && { required }),
    }
  }
  const files = fields.filter(([, schema]) => isFile(schema))
  const texts = fields.filter(([, schema]) => !isFile(schema))
  const needsFile = files.some(([, schema]) => isRequired(schema))
  const content: Record<string, object> = {}
  if (needsFile) content['multipart/form-data'] = { schema: components.add(`${name}Form`, schemaOf(fields)) }
  else {
    const schema = components.add(`${name}Body`, schemaOf(texts))
    content['application/json'] = { schema }
    content['application/x-www-form-urlencoded'] = { schema }
    if (files.length > 0)
      content['multipart/form-data'] = {
        schema: components.add(`${name}Form`, { allOf: [schema, schemaOf(files)] }),
      }
  }
  return { ...(fields.some(([, schema]) => isRequired(schema)) && { required: true }), content }
}
