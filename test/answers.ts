import { type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { Endpoint } from '../src/api/endpoint.ts'
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
