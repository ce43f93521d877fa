import { needsAccount } from '../../../access/policy.ts'
import type { Endpoint } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { isOffered, type Plan } from '../../../kernel/plan.ts'
import { apiPrefix, scopesFor } from '../declared.ts'
import { Components } from './components.ts'
import { type Examples, exampleOf } from './examples.ts'
import { inputsOf, parameterComponents, templateOf } from './inputs.ts'
import type { JsonSchema } from './json-schema.ts'
import { operationIdOf } from './operation-id.ts'
import { entitiesOf, errorResponses, errorSchemas, headerComponents, responsesOf } from './outputs.ts'
import { type Tag, tagOf } from './tags.ts'

/** Endpoints by the folder of their noun; `tags.ts` has the tag of each. */
export type Areas = Readonly<Record<string, readonly Endpoint[]>>

export type OpenApiDocument = {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string } & JsonSchema>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const introduction = (
  apiVersion: string,
) => `Version 4 of the API that existing clients use. \`GET /version\` reports ${apiVersion}, with which some of them compare what they need.

Every path starts with \`${apiPrefix}\`.

Parameters may be sent in the query, as JSON, as a form or as a multipart form, with any method and mixed. The path
takes precedence over the body, and the body over the query. Lists are \`name[]=a&name[]=b\`, hashes
\`name[key]=value\`. Unknown parameters are ignored.

Every GET endpoint answers HEAD with the same headers. Features that the plan does not offer are omitted.`

type Options = {
  readonly plan: Plan
  readonly version: string
  readonly apiVersion: string
  /** Default: none. */
  readonly examples?: Examples
  /** The path of the URL of the service (`sitePathOf`). */
  readonly sitePath?: string
}

/**
 * The API as an OpenAPI 3.1 document, limited to what `plan` offers. `version` is the release of this product,
 * `apiVersion` the release of the API it is compatible with. The same endpoints give the same bytes. Takes
 * milliseconds: generate it once.
 */
export function openApiDocument(
  areas: Areas,
  { plan, version, apiVersion, examples = {}, sitePath = '' }: Options,
): OpenApiDocument {
  const paths: Record<string, Record<string, { operationId: string }>> = {}
  const entities = new Map<string, Entity<any>>()
  const components = new Components(plan)
  const tags = new Map<string, Tag>()
  for (const area of Object.keys(areas).sort()) {
    const tag = tagOf(area).name
    const endpoints = areas[area]!.filter(({ tier }) => isOffered(tier, plan))
    if (endpoints.length > 0) tags.set(tag, tagOf(area))
    for (const e of endpoints) {
      const item = (paths[templateOf(e.path)] ??= {})
      const operation = operationOf(e, tag, plan, components, examples)
      item[e.method.toLowerCase()] = operation
      // Every GET answers HEAD; the document lists it where the headers are the answer.
      if (e.method === 'GET' && e.headers) item['head'] = headOf(operation)
      for (const entity of entitiesOf(e)) remember(entities, entity)
    }
  }
  for (const [name, { schema }] of entities) components.addRecord(name, schema)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stithy',
      version,
      description: introduction(apiVersion),
      contact: { name: 'The Stithy authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: sitePath + apiPrefix }],
    tags: [...tags.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    paths: sorted(paths),
    components: {
      schemas: {
        ...components.all(),
        ...errorSchemas,
      },
      parameters: parameterComponents,
      responses: errorResponses,
      headers: headerComponents,
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN', description: 'Personal access token' },
        bearer: { type: 'http', scheme: 'bearer', description: 'Personal access token or OAuth access token' },
        parameter: {
          type: 'apiKey',
          in: 'query',
          name: 'private_token',
          description: 'Personal access token as a query parameter',
        },
      },
    },
  } as unknown as OpenApiDocument
}

function operationOf(
  e: Endpoint,
  tag: string,
  plan: Plan,
  components: Components,
  examples: Examples,
): { operationId: string } & JsonSchema {
  const known = [{ token: [] }, { bearer: [] }, { parameter: [] }]
  return {
    tags: [tag],
    operationId: operationIdOf(e),
    summary: e.summary,
    ...(e.description !== undefined && { description: e.description }),
    ...(e.deprecated && { deprecated: true }),
    ...(e.tier !== undefined && { 'x-tier': e.tier }),
    'x-scopes': scopesFor(e),
    security: needsAccount(e.subject.policy[e.allow]!) ? known : [{}, ...known],
    ...inputsOf(e, plan, components),
    responses: responsesOf(e, exampleOf(e, examples, plan)),
  }
}

function headOf(get: { operationId: string } & JsonSchema) {
  const responses = Object.fromEntries(
    Object.entries(get['responses'] as Record<string, { content?: unknown; $ref?: string }>).map(
      ([status, { content: _, ...rest }]) => [status, rest],
    ),
  )
  return { ...get, operationId: get.operationId.replace(/^(get|list|download)/, 'head'), responses }
}

/** Two entities of one name would share a component, so this throws. */
function remember(entities: Map<string, Entity<any>>, entity: Entity<any>): void {
  const known = entities.get(entity.name)
  if (known && known !== entity) throw new Error(`two records are called ${entity.name}`)
  entities.set(entity.name, entity)
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))
