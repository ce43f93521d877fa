import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Endpoint } from '../src/api/endpoint.ts'
import { endpoints } from '../src/areas/index.ts'

const declared = new Map<string, Endpoint>(endpoints.map((each) => [`${each.method} ${each.path}`, each]))

/** Every answer that a test provokes must be as its endpoint declares it: no field too many, none of another type. */
export function checkAnswer(method: string, path: string, _status: number, body: unknown): void {
  const { returns, paged } = declared.get(`${method} ${path}`)!
  if (returns === null || 'raw' in returns) return
  const shapes = 'variants' in returns ? returns.variants : ['list' in returns ? returns.list : returns]
  const closed = shapes.map(({ schema }) => ({ ...schema, additionalProperties: false }))
  const schema = paged || 'list' in returns ? closed.map((each) => Type.Array(each)) : closed
  const fitting = schema.some((each) => Value.Check(each, body))
  if (fitting) return
  const complaints = schema.flatMap((each) => [...Value.Errors(each, body)].slice(0, 3))
  throw new Error(`${method} ${path} answers what it does not declare: ${JSON.stringify(complaints)}`)
}
