import { readFileSync } from 'node:fs'
import type { Endpoint } from '../../../api/endpoint.ts'
import type { ParamSchema } from '../../../api/params/schema.ts'
import { isOffered, type Plan } from '../../../kernel/plan.ts'
import { operationIdOf } from './operation-id.ts'
import { entitiesOf } from './outputs.ts'

/** Answers by operation id, collected from tests (`npm run examples`). */
export type Examples = Readonly<Record<string, unknown>>

export const readExamples = (): Examples =>
  JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8')) as Examples

/** The example of an endpoint without what `plan` does not offer. */
export function exampleOf(e: Endpoint, examples: Examples, plan: Plan): unknown {
  const example = examples[operationIdOf(e)]
  const anyOf = entitiesOf(e).map(({ schema }) => schema as ParamSchema)
  const of = (value: unknown) => offeredIn(value, { anyOf } as ParamSchema, plan)
  return Array.isArray(example) ? example.map(of) : of(example)
}

function offeredIn(value: unknown, schema: ParamSchema | undefined, plan: Plan): unknown {
  if (schema?.anyOf !== undefined)
    return schema.anyOf.reduce<unknown>((left, alternative) => offeredIn(left, alternative, plan), value)
  if (Array.isArray(value)) return value.map((element) => offeredIn(element, schema?.items, plan))
  if (typeof value !== 'object' || value === null) return value
  const fields = schema?.properties ?? {}
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isOffered(fields[name]?.tier, plan))
      .map(([name, inner]) => [name, offeredIn(inner, fields[name], plan)]),
  )
}
