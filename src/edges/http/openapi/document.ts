import { needsAccount } from '../../../access/policy.ts'
import type { Endpoint } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { isOffered, type Plan } from '../../../kernel/plan.ts'
import { apiPrefix, scopesFor } from '../mount.ts'
import { inputsOf, parameterComponents, templateOf } from './inputs.ts'
import { type JsonSchema, jsonSchema } from './json-schema.ts'
import { entitiesOf, errorResponses, errorSchemas, headerComponents, responsesOf } from './outputs.ts'

/** Endpoints by the folder of their area, which is their tag. */
export type Areas = Readonly<Record<string, readonly Endpoint[]>>

export type OpenApiDocument = {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string } & JsonSchema>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const introduction = `Every path lies below \`${apiPrefix}\`.

Parameters may be sent in the query, as JSON, as a form or as a multipart form, with any verb and mixed: the path wins
over the body and the body over the query. Lists are \`name[]=a&name[]=b\`, hashes \`name[key]=value\`. Names nobody
declares are ignored.

HEAD is answered wherever GET is, with the same headers. What a plan does not offer is left out.`

/**
 * The interface as OpenAPI 3.1, as far as `plan` offers it; the same endpoints give the same bytes. Costs milliseconds,
 * so make it once.
 */
export function openApiDocument(areas: Areas, { plan, version }: { plan: Plan; version: string }): OpenApiDocument {
  const paths: Record<string, Record<string, { operationId: string }>> = {}
  const entities = new Map<string, Entity<any>>()
  const tags: string[] = []
  for (const tag of Object.keys(areas).sort()) {
    const endpoints = areas[tag]!.filter(({ tier }) => isOffered(tier, plan))
    if (endpoints.length > 0) tags.push(tag)
    for (const e of endpoints) {
      const item = (paths[templateOf(e.path)] ??= {})
      const operation = operationOf(e, tag, plan)
      item[e.method.toLowerCase()] = operation
      // HEAD is answered everywhere; it is worth a line where headers are the answer.
      if (e.method === 'GET' && e.headers) item['head'] = headOf(operation)
      for (const entity of entitiesOf(e)) remember(entities, entity)
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stithy', version, description: introduction, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: apiPrefix }],
    tags: tags.map((name) => ({ name })),
    paths: sorted(paths),
    components: {
      schemas: {
        ...sorted(
          Object.fromEntries([...entities].map(([name, { schema }]) => [name, jsonSchema(schema, plan, true)])),
        ),
        ...errorSchemas,
      },
      parameters: parameterComponents,
      responses: errorResponses,
      headers: headerComponents,
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN', description: 'A personal access token' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same, as OAuth clients send it' },
        parameter: { type: 'apiKey', in: 'query', name: 'private_token', description: 'The same, as a parameter' },
      },
    },
  } as unknown as OpenApiDocument
}

function operationOf(e: Endpoint, tag: string, plan: Plan): { operationId: string } & JsonSchema {
  const known = [{ token: [] }, { bearer: [] }, { parameter: [] }]
  return {
    tags: [tag],
    operationId: operationIdOf(e),
    summary: e.summary,
    ...(e.deprecated && { deprecated: true }),
    ...(e.tier !== undefined && { 'x-tier': e.tier }),
    'x-scopes': scopesFor(e),
    security: needsAccount(e.subject.policy[e.allow]!) ? known : [{}, ...known],
    ...inputsOf(e, plan),
    responses: responsesOf(e),
  }
}

function headOf(get: { operationId: string } & JsonSchema) {
  const responses = Object.fromEntries(
    Object.entries(get['responses'] as Record<string, { content?: unknown; $ref?: string }>).map(
      ([status, { content: _, ...rest }]) => [status, rest],
    ),
  )
  return { ...get, operationId: get.operationId.replace(/^get/, 'head'), responses }
}

/** `GET /projects/:id/members` → `getProjectsByIdMembers`: as unique and as stable as the path. */
export function operationIdOf({ method, path }: Pick<Endpoint, 'method' | 'path'>): string {
  const words = path
    .replace(/:/g, 'by_')
    .replaceAll('/-/', '/dash/')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

/** Two records of one name would be one component, so that is a mistake of ours. */
function remember(entities: Map<string, Entity<any>>, entity: Entity<any>): void {
  const known = entities.get(entity.name)
  if (known && known !== entity) throw new Error(`two records are called ${entity.name}`)
  entities.set(entity.name, entity)
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))
