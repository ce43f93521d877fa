import { type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { Endpoint } from '../src/api/endpoint.ts'
import { apiPrefix } from '../src/edges/http/declared.ts'
import { responsesOf } from '../src/edges/http/openapi/outputs.ts'
import { RouteTable } from '../src/edges/http/route-table.ts'
import { endpoints } from '../src/modules/endpoints.ts'
import { recordExample } from './examples.ts'

const declared = new Map<string, Endpoint>(endpoints.map((each) => [`${each.method} ${each.path}`, each]))

const compiled = new Map<Endpoint, readonly Validator[]>()

/** The schema of an endpoint's response, closed: it allows no field that the endpoint does not declare. */
export function validatorsOf(e: Endpoint): readonly Validator[] {
  const { returns, paged } = e
  if (returns === null || 'raw' in returns) return []
  const shapes = 'variants' in returns ? returns.variants : ['list' in returns ? returns.list : returns]
  const closed = shapes.map(({ schema }): TSchema => ({ ...schema, additionalProperties: false }))
  return closed.map((each) => Compile(paged || 'list' in returns ? Type.Array(each) : each))
}

/** Validates every response in tests against what its endpoint declares: no extra field, no field of another type. */
export function checkAnswer(method: string, path: string, _status: number, body: unknown): void {
  const endpoint = declared.get(`${method} ${path}`)!
  let validators = compiled.get(endpoint)
  if (!validators) {
    validators = validatorsOf(endpoint)
    compiled.set(endpoint, validators)
  }
  if (validators.length === 0) return
  if (validators.some((each) => each.Check(body))) return recordExample(endpoint, body)
  const violations = validators.flatMap((each) => [...each.Errors(body)].slice(0, 3))
  throw new Error(`${method} ${path} responds with what it does not declare: ${JSON.stringify(violations)}`)
}

const routes = new RouteTable<Endpoint>()
for (const each of endpoints) routes.add(each.method, apiPrefix + each.path, each)

const statuses = new Map<Endpoint, ReadonlySet<string>>()

/** Throws if the document declares no response of this status. `url` may have a query; addresses outside the API have no declaration. */
export function checkStatus(method: string, url: string, status: number): void {
  // The document announces neither faults, nor what the HTTP parser refuses before it knows the path.
  if (status === 500 || status === 431) return
  const endpoint = routes.find(method === 'HEAD' ? 'GET' : method, url.split('?', 1)[0]!)?.value
  if (!endpoint) return
  let known = statuses.get(endpoint)
  if (!known) {
    known = new Set(Object.keys(responsesOf(endpoint, undefined)))
    statuses.set(endpoint, known)
  }
  if (!known.has(String(status)))
    throw new Error(`${method} ${endpoint.path} responds with ${status}, which the OpenAPI document does not declare`)
}
